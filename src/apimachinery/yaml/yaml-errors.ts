/**
 * Texts of YAML syntax errors: what the library found, in the words and with the line of the Go reader. That reader counts the lines of
 * its scanner from one and those of its parser from zero, and leaves the first line out.
 */
import type { YAMLException } from "js-yaml";

/** `yaml: line N: …` for an error of the library. */
export function goYamlError(error: YAMLException, source: string): string {
  const line = error.mark?.line ?? 0;
  const position = error.mark?.position ?? source.length;
  return `yaml: ${describe(error.reason, { source, line, position })}`;
}

interface Place {
  readonly source: string;
  /** From zero. */
  readonly line: number;
  readonly position: number;
}

function describe(reason: string, place: Place): string {
  const { source, line } = place;
  if (reason.startsWith("the stream contains non-printable")) return "control characters are not allowed";
  if (reason.startsWith("tab characters")) return scanner(line, tabText(place));
  if (reason.startsWith("unknown escape")) return scanner(line, "found unknown escape character");
  if (reason.includes("must contain at least one character")) return scanner(line, "did not find expected alphabetic or numeric character");
  if (reason.startsWith("a line break is expected")) return scanner(line, "did not find expected comment or line break");
  if (reason.startsWith("can not read a block mapping entry")) return scanner(line, "could not find expected ':'");
  if (reason.startsWith("unexpected end of the stream within a verbatim tag")) return "did not find the expected '>'";
  if (reason.startsWith("expected the node content")) return parser(line, "did not find expected node content");
  if (reason.startsWith("missed comma")) return parser(line, expectedInFlow(openFlow(source.slice(0, place.position))));
  if (reason.startsWith("deficient indentation") || reason.startsWith("unexpected end of the stream")) return unfinished(place);
  if (reason.startsWith("end of the stream")) return afterDocument(place);
  if (reason.startsWith("bad indentation of a mapping entry")) return unexpectedCharacter(place);
  return parser(line, "did not find expected key");
}

function scanner(line: number, text: string): string {
  return line === 0 ? text : `line ${line + 1}: ${text}`;
}

function parser(line: number, text: string): string {
  return line === 0 ? text : `line ${line}: ${text}`;
}

/** A tab that opens a block's first line is no token; later it spoils the indentation. */
function tabText({ source, position }: Place): string {
  const before = source.slice(0, position).trimEnd();
  return before.endsWith(":") || before.endsWith("-") || before === ""
    ? "found character that cannot start any token"
    : "found a tab character that violates indentation";
}

const misplaced: Readonly<Record<string, string>> = {
  "@": "found character that cannot start any token",
  "`": "found character that cannot start any token",
  "%": "found character that cannot start any token",
  "-": "block sequence entries are not allowed in this context",
  "?": "mapping keys are not allowed in this context",
  ":": "mapping values are not allowed in this context",
};

function unexpectedCharacter({ source, line, position }: Place): string {
  const character = source[position] ?? "";
  if ("}],".includes(character) && character !== "") return parser(line, "did not find expected node content");
  const isFirstOfLine = source.slice(source.lastIndexOf("\n", position - 1) + 1, position).trim() === "";
  const text = isFirstOfLine ? undefined : misplaced[character];
  return text === undefined ? parser(line, "did not find expected key") : scanner(line, text);
}

function afterDocument({ source, line, position }: Place): string {
  if (source[position] === ":") return scanner(line, misplaced[":"]!);
  const rest = source.split("\n")[line] ?? "";
  if (!rest.includes(":") && !rest.startsWith("- ")) return `line ${line + 2}: could not find expected ':'`;
  const isList = /^(?:\s*(?:#.*)?\n|---\s)*- /.test(source);
  return parser(line, isList ? "did not find expected '-' indicator" : "did not find expected key");
}

/** The source ended, or a line stood too far left, inside quotes or brackets. */
function unfinished({ source, line, position }: Place): string {
  const flow = openFlow(source);
  if (flow.isQuoted) return scanner(source.split("\n").length - 1, "found unexpected end of stream");
  const isAtEnd = source.slice(position).trim() === "" || line >= source.split("\n").length - 1;
  if (!isAtEnd) return parser(line, expectedInFlow(openFlow(source.slice(0, position))));
  const lines = source.endsWith("\n") ? source.split("\n").length - 1 : source.split("\n").length;
  return parser(lines, "[{,".includes(flow.last) ? "did not find expected node content" : expectedInFlow(flow));
}

interface OpenFlow {
  readonly bracket: string;
  readonly isQuoted: boolean;
  /** The last character that is no space. */
  readonly last: string;
}

function expectedInFlow({ bracket }: OpenFlow): string {
  return `did not find expected ',' or '${bracket === "{" ? "}" : "]"}'`;
}

/** What is still open at the end of `source`. */
function openFlow(source: string): OpenFlow {
  const brackets: string[] = [];
  const tokens = /"(?:[^"\\]|\\[^])*("?)|'(?:[^']|'')*('?)|#[^\n]*|[[\]{}]|[^\s]/g;
  let last = "";
  let isQuoted = false;
  for (const match of source.matchAll(tokens)) {
    const token = match[0];
    const isComment = token.startsWith("#") && /(?:^|\s)$/.test(source.slice(Math.max(0, match.index - 1), match.index));
    if (isComment) continue;
    isQuoted = (token.startsWith('"') && match[1] !== '"') || (token.startsWith("'") && match[2] !== "'");
    if (token === "[" || token === "{") brackets.push(token);
    else if (token === "]" || token === "}") brackets.pop();
    last = token.at(-1)!;
  }
  return { bracket: brackets.at(-1) ?? "[", isQuoted, last };
}
