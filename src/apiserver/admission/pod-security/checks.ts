/** The checks of Pod Security Standards, baseline first, each list in the order in which violations are told. */
import type { PodSpec } from "../../../api/core-v1/types.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import type { Level, LevelVersion } from "./levels.ts";
import {
  appArmor,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seccompBaseline,
  seLinux,
  sysctls,
  windowsHostProcess,
} from "./baseline-checks.ts";
import {
  capabilitiesRestricted,
  privilegeEscalation,
  procMountRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
} from "./restricted-checks.ts";

/** What is examined: a pod, or a template of pods. */
export interface PodLike {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
}

/** A violation: the check's reason and what exactly is wrong. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type CheckFunction = (pod: PodLike, minor: number) => Violation | undefined;

interface Check {
  readonly level: Exclude<Level, "privileged">;
  /** First minor version of Kubernetes with this rule. */
  readonly since: number;
  readonly run: CheckFunction;
  /** A baseline check that this one includes. */
  readonly replaces?: CheckFunction;
}

const newest = 37;

const checks: readonly Check[] = [
  { level: "baseline", since: 0, run: appArmor },
  { level: "baseline", since: 0, run: capabilitiesBaseline },
  { level: "baseline", since: 0, run: hostNamespaces },
  { level: "baseline", since: 0, run: hostPathVolumes },
  { level: "baseline", since: 0, run: hostPorts },
  { level: "baseline", since: 34, run: hostProbes },
  { level: "baseline", since: 0, run: privileged },
  { level: "baseline", since: 0, run: procMount },
  { level: "baseline", since: 0, run: seLinux },
  { level: "baseline", since: 0, run: seccompBaseline },
  { level: "baseline", since: 0, run: sysctls },
  { level: "baseline", since: 0, run: windowsHostProcess },
  { level: "restricted", since: 8, run: privilegeEscalation },
  { level: "restricted", since: 22, run: capabilitiesRestricted, replaces: capabilitiesBaseline },
  { level: "restricted", since: 0, run: procMountRestricted, replaces: procMount },
  { level: "restricted", since: 0, run: restrictedVolumes, replaces: hostPathVolumes },
  { level: "restricted", since: 0, run: runAsNonRoot },
  { level: "restricted", since: 23, run: runAsUser },
  { level: "restricted", since: 19, run: seccompRestricted, replaces: seccompBaseline },
];

/** The checks of a level in a version, baseline before restricted. */
function checksOf({ level, minor }: LevelVersion): readonly CheckFunction[] {
  const version = Math.min(minor ?? newest, newest);
  const key = `${level} ${version}`;
  let list = lists.get(key);
  if (list === undefined) {
    const active = checks.filter((check) => check.since <= version && (level === "restricted" || check.level === "baseline"));
    const replaced = new Set(active.map((check) => check.replaces));
    list = active.map((check) => check.run).filter((run) => !replaced.has(run));
    lists.set(key, list);
  }
  return list;
}

const lists = new Map<string, readonly CheckFunction[]>();

/** All violations of a level, in order. */
export function violationsOf(pod: PodLike, wanted: LevelVersion): Violation[] {
  if (wanted.level === "privileged") return [];
  const minor = Math.min(wanted.minor ?? newest, newest);
  return checksOf(wanted).flatMap((run) => run(pod, minor) ?? []);
}

/** `reason (detail), reason (detail)`. */
export function violationText(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === "" ? reason : `${reason} (${detail})`)).join(", ");
}
