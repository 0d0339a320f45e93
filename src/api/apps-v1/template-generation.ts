/**
 * The generation of a DaemonSet's template: a field of older versions of the kind, which apps/v1 shows as an annotation of every
 * DaemonSet. The server alone moves it; what a client writes there counts only at creation.
 */
import type { DaemonSet } from "./types.ts";

const annotation = "deprecated.daemonset.template.generation";

/** Gives the annotation a number from `least` on, as it is written after decoding. */
export function normalizeTemplateGeneration(set: DaemonSet, least: number): void {
  write(set, Math.max(read(set), least));
}

export function keepTemplateGeneration(set: DaemonSet, old: DaemonSet): void {
  write(set, read(old));
}

/** After a change of the template. */
export function bumpTemplateGeneration(set: DaemonSet, old: DaemonSet): void {
  write(set, read(old) + 1);
}

function read({ metadata }: DaemonSet): number {
  const text = metadata.annotations?.[annotation] ?? "";
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0;
}

function write(set: DaemonSet, generation: number): void {
  (set.metadata.annotations ??= {})[annotation] = String(generation);
}
