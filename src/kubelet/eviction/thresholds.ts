/** Thresholds of eviction signals, as settings name them (documentation page "Node-pressure Eviction"). Pure. */
import { quantityValue } from "../../apimachinery/quantity.ts";
import { parseDurationMs } from "../../apimachinery/go/go-duration.ts";
import type { AmountMap, KubeletSettings } from "../configuration/settings.ts";

export const signals = [
  "memory.available",
  "allocatableMemory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "containerfs.available",
  "containerfs.inodesFree",
  "pid.available",
] as const;
export type Signal = (typeof signals)[number];

export type PressureCondition = "MemoryPressure" | "DiskPressure" | "PIDPressure";

/** What pods use too much of. */
export type StarvedResource = "memory" | "ephemeral-storage" | "inodes" | "pids";

export interface Threshold {
  readonly signal: Signal;
  readonly value: Amount;
  /** 0 for a hard one. */
  readonly graceMs: number;
  readonly isHard: boolean;
  /** How far above the threshold reclaiming is to bring the signal. */
  readonly minReclaim?: Amount;
}

/** An amount of bytes, inodes or processes, or a share of the capacity. */
export type Amount = { readonly kind: "quantity"; readonly text: string } | { readonly kind: "share"; readonly share: number };

type EvictionSettings = Pick<KubeletSettings, "evictionHard" | "evictionSoft" | "evictionSoftGracePeriod" | "evictionMinimumReclaim">;

/** Of settings without faults. Memory beyond what pods may have together counts as well. */
export function thresholdsOf(settings: EvictionSettings): Threshold[] {
  const reclaim = new Map(Object.entries(settings.evictionMinimumReclaim).map(([signal, text]) => [signal, parseAmount(text)]));
  const make = (map: AmountMap, isHard: boolean) =>
    Object.entries(map).flatMap(([signal, text]): Threshold[] => {
      const value = parseAmount(text);
      const minReclaim = reclaim.get(signal);
      // Zero means never.
      if (value === undefined || isNothing(value)) return [];
      const graceMs = isHard ? 0 : parseDurationMs(settings.evictionSoftGracePeriod[signal] ?? "0");
      return [{ signal: signal as Signal, value, graceMs, isHard, ...(minReclaim !== undefined && { minReclaim }) }];
    });
  const named = [...make(settings.evictionHard, true), ...make(settings.evictionSoft, false)];
  const memory = named.filter(({ signal, isHard }) => signal === "memory.available" && isHard);
  // Containers' own file system is never told apart: it is that of the node or of the images.
  return [
    ...named.filter(({ signal }) => !signal.startsWith("containerfs.")),
    ...memory.map((threshold): Threshold => ({ ...threshold, signal: "allocatableMemory.available" })),
  ];
}

export function thresholdFaults(settings: EvictionSettings): string[] {
  const faults: string[] = [];
  const check = (map: AmountMap) => {
    for (const [signal, text] of Object.entries(map)) {
      if (!(signals as readonly string[]).includes(signal)) faults.push(`unknown eviction signal: ${signal}`);
      const amount = parseAmount(text);
      if (amount === undefined)
        faults.push(`eviction threshold ${signal}: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`);
      else if (amount.kind === "share" && (amount.share < 0 || amount.share > 1))
        faults.push(`eviction percentage threshold ${signal} must be >= 0% and <= 100%: ${text}`);
      else if (amount.kind === "quantity" && quantityValue(amount.text) < 0) faults.push(`eviction threshold ${signal} must be positive: ${text}`);
    }
  };
  for (const map of [settings.evictionHard, settings.evictionSoft, settings.evictionMinimumReclaim]) check(map);
  for (const signal of Object.keys(settings.evictionSoft)) {
    if (settings.evictionSoftGracePeriod[signal] === undefined) faults.push(`grace period must be specified for the soft eviction threshold ${signal}`);
  }
  for (const [signal, text] of Object.entries(settings.evictionSoftGracePeriod)) {
    try {
      if (parseDurationMs(text) < 0) faults.push(`invalid eviction grace period specified: ${signal} = ${text}`);
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  return faults;
}

/** Undefined when the text is neither a quantity nor a percentage. */
export function parseAmount(text: string): Amount | undefined {
  const percent = /^(-?\d+(?:\.\d+)?)%$/.exec(text);
  if (percent !== null) return { kind: "share", share: Number(percent[1]) / 100 };
  try {
    quantityValue(text);
    return { kind: "quantity", text };
  } catch {
    return undefined;
  }
}

/** In whole units. */
export function amountOf(amount: Amount, capacity: number): number {
  return amount.kind === "quantity" ? quantityValue(amount.text) : Math.trunc(capacity * amount.share);
}

export function conditionOf(signal: Signal): PressureCondition {
  if (signal === "memory.available" || signal === "allocatableMemory.available") return "MemoryPressure";
  return signal === "pid.available" ? "PIDPressure" : "DiskPressure";
}

export function resourceOf(signal: Signal): StarvedResource {
  if (signal === "memory.available" || signal === "allocatableMemory.available") return "memory";
  if (signal === "pid.available") return "pids";
  return signal.endsWith("inodesFree") ? "inodes" : "ephemeral-storage";
}

const isNothing = (amount: Amount) => (amount.kind === "share" ? amount.share === 0 : quantityValue(amount.text) === 0);
