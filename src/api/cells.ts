/** Texts that cells of tables share: ages, durations, selectors, lists that are cut. Bookmarks reach printers as almost empty objects, so everything may be absent. */
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { PodSpec } from "./core-v1/types.ts";
import type { LabelSelector } from "./meta-v1/types.ts";
import type { RowContext } from "./table.ts";

/** How long ago `timestamp` (RFC 3339) was, as `kubectl get` shows ages; `<unknown>` when it is absent or Go's zero time. */
export function since(timestamp: string | null | undefined, context: RowContext): string {
  const atMs = instantMs(timestamp);
  return atMs === undefined ? "<unknown>" : durationText(context.nowMs - atMs);
}

export function age(object: DeepReadonly<KubeObject>, context: RowContext): string {
  return since(object.metadata.creationTimestamp, context);
}

/** A timestamp in ms, or undefined when it is absent, empty or Go's zero time. */
export function instantMs(timestamp: string | null | undefined): number | undefined {
  if (timestamp === undefined || timestamp === null || timestamp === "" || timestamp.startsWith("0001-01-01T00:00:00")) return undefined;
  return Date.parse(timestamp);
}

/** A duration with one or two units, fewer the longer it is: `119s`, `2m1s`, `10m`, `3h1m`, `2d1h`, `8d`, `2y1d`, `9y`. Negative ones beyond clock skew are `<invalid>`. */
export function durationText(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  const minutes = Math.trunc(seconds / 60);
  const hours = Math.trunc(minutes / 60);
  const days = Math.trunc(hours / 24);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return twoUnits(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return twoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return twoUnits(days, "d", hours % 24, "h");
  if (days < 2 * 365) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? twoUnits(years, "y", days % 365, "d") : `${years}y`;
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/** When an object was made, for the few kinds that show no age. */
export function createdAt(object: DeepReadonly<KubeObject>): string {
  return object.metadata.creationTimestamp ?? "0001-01-01T00:00:00Z";
}

export function nameOf(object: DeepReadonly<KubeObject>): string {
  return object.metadata.name ?? "";
}

/** `a=1,b=2`, sorted by key; `<none>` when empty. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.keys(labels ?? {})
    .sort()
    .map((key) => `${key}=${labels![key]}`);
  return orNone(pairs.join(","));
}

/** A selector as a query: `app=x,tier in (a,b),!old`, requirements sorted by key; `<none>` when it selects everything or nothing. */
export function selectorText(selector: DeepReadonly<LabelSelector> | undefined): string {
  const requirements = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  for (const { key, operator, values } of selector?.matchExpressions ?? []) {
    const text = requirementText(key, operator, [...(values ?? [])].sort().join(","));
    if (text === undefined) return "<error>";
    requirements.push({ key, text });
  }
  requirements.sort((left, right) => (left.key < right.key ? -1 : Number(left.key > right.key)));
  return orNone(requirements.map(({ text }) => text).join(","));
}

function requirementText(key: string, operator: string, values: string): string | undefined {
  switch (operator) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return undefined;
  }
}

/** The first `shown` texts, then how many there are besides: `a,b,c + 2 more...`. */
export function cutList(texts: readonly string[], shown: number, separator = ","): string {
  const text = texts.slice(0, shown).join(separator);
  return texts.length > shown ? `${text} + ${texts.length - shown} more...` : text;
}

/** Names and images of the containers of a pod template. */
export function containerCells(podSpec: DeepReadonly<PodSpec> | undefined): [names: string, images: string] {
  const containers = podSpec?.containers ?? [];
  return [containers.map(({ name }) => name).join(","), containers.map(({ image }) => image ?? "").join(",")];
}

/** Addresses of load balancers, each once, sorted. */
export function loadBalancerText(ingress: ReadonlyArray<{ readonly ip?: string; readonly hostname?: string }> | undefined): string {
  const addresses = (ingress ?? []).map(({ ip, hostname }) => (ip !== undefined && ip !== "" ? ip : (hostname ?? ""))).filter((address) => address !== "");
  return [...new Set(addresses)].sort().join(",");
}

/** Access modes in short, in a fixed order. */
export function accessModesText(modes: readonly string[] | undefined): string {
  return accessModes
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

const accessModes = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

export function orNone(text: string | undefined): string {
  return text === undefined || text === "" ? "<none>" : text;
}

export function isMarkedDefault(object: DeepReadonly<KubeObject>, annotation: string): boolean {
  return object.metadata.annotations?.[annotation] === "true";
}
