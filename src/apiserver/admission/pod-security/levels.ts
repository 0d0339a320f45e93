/** Pod Security levels as namespaces ask for them (documentation page "Pod Security Admission"). */
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";

export type Level = "privileged" | "baseline" | "restricted";

/** A level and the minor version of Kubernetes whose rules count; undefined is `latest`. */
export interface LevelVersion {
  readonly level: Level;
  readonly minor: number | undefined;
}

export type Mode = "enforce" | "audit" | "warn";
export type NamespacePolicy = Readonly<Record<Mode, LevelVersion>>;

const prefix = "pod-security.kubernetes.io/";
const modes: readonly Mode[] = ["enforce", "audit", "warn"];
const ranks: Readonly<Record<Level, number>> = { privileged: 0, baseline: 1, restricted: 2 };

/** Without a label: these. */
export const privilegedPolicy: NamespacePolicy = {
  enforce: { level: "privileged", minor: undefined },
  audit: { level: "privileged", minor: undefined },
  warn: { level: "privileged", minor: undefined },
};

/** What a namespace's labels ask for. An unreadable level counts as the strictest, as far as it forbids something. */
export function policyOf(
  labels: Readonly<Record<string, string>> | undefined,
  defaults: NamespacePolicy,
): { readonly policy: NamespacePolicy; readonly errors: readonly FieldError[] } {
  const policy: Record<Mode, LevelVersion> = { ...defaults };
  const errors: FieldError[] = [];
  if (labels === undefined) return { policy, errors };
  const path = FieldPath.root("metadata", "labels");
  for (const mode of modes) {
    const level = labels[prefix + mode];
    let { level: chosen, minor } = policy[mode];
    if (level !== undefined) {
      if (isLevel(level)) {
        chosen = level;
      } else {
        errors.push(invalid(path.key(prefix + mode), level, "must be one of privileged, baseline, restricted"));
        chosen = mode === "enforce" ? "restricted" : "privileged";
      }
    }
    const version = labels[`${prefix}${mode}-version`];
    if (version !== undefined) {
      const parsed = parseVersion(version);
      if (parsed === "unreadable") errors.push(invalid(path.key(`${prefix}${mode}-version`), version, 'must be "latest" or "v1.x"'));
      else minor = parsed;
    }
    policy[mode] = { level: chosen, minor };
  }
  // Warnings follow enforcement when only that is asked for, so that workloads tell before their pods fail.
  if (labels[`${prefix}warn`] === undefined && labels[`${prefix}enforce`] !== undefined && ranks[policy.enforce.level] > ranks[policy.warn.level])
    policy.warn = policy.enforce;
  return { policy, errors };
}

/** `latest` or `v1.x`. */
export function parseVersion(text: string): number | undefined | "unreadable" {
  if (text === "latest") return undefined;
  const match = /^v1\.(0|[1-9]\d*)$/.exec(text);
  return match === null ? "unreadable" : Number(match[1]);
}

export function isLevel(text: string): text is Level {
  return Object.hasOwn(ranks, text);
}

/** `restricted:latest`. */
export function levelText({ level, minor }: LevelVersion): string {
  return `${level}:${minor === undefined ? "latest" : `v1.${minor}`}`;
}

/** Whether `next` forbids more than `before` in the same version. */
export function isStricter(next: Level, before: Level): boolean {
  return ranks[next] > ranks[before];
}

export function isSame(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.minor === b.minor;
}
