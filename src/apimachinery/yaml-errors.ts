/** Texts of YAML syntax errors: what the library found, in the words of the Go reader. */
import type { YAMLException } from "js-yaml";

/** `yaml: line N: …` for an error of the library. */
export function goYamlError(error: YAMLException, source: string): string {
  const found = rules.find(([opening]) => error.reason.startsWith(opening));
  const line = (error.mark?.line ?? 0) + 1;
  const lines = source.endsWith("\n") ? source.split("\n").length - 1 : source.split("\n").length;
  const text = found === undefined ? "could not find expected ':'" : found[1];
  return `yaml: line ${Math.min(line, lines)}: ${text}`;
}

const rules: ReadonlyArray<readonly [opening: string, goText: string]> = [
  ["tab characters", "found character that cannot start any token"],
];
