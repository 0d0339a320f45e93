/**
 * A container runtime with faults, from a seed: calls that fail before or after they took effect, or come late. Wraps any runtime of the
 * kubelet; what it says is never changed.
 */
import { sleep, type Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { RuntimeError } from "../kubelet/runtime/cri.ts";
import type { ContainerRuntime } from "../kubelet/runtime/cri.ts";
import { Faults } from "./faults.ts";

export type RuntimeFault = "failBefore" | "failAfter" | "delay";

export interface FaultRuntimeOptions {
  readonly random: Random;
  readonly clock: Clock;
  readonly rates?: Partial<Record<RuntimeFault, number>>;
  readonly maxDelayMs?: number;
}

/** Calls that change something: the others only come late. */
const changing: ReadonlySet<string> = new Set([
  "runPodSandbox",
  "stopPodSandbox",
  "removePodSandbox",
  "createContainer",
  "startContainer",
  "stopContainer",
  "removeContainer",
  "pullImage",
]);

/** The runtime with faults, and how often each has struck. */
export function faultRuntime(
  runtime: ContainerRuntime,
  options: FaultRuntimeOptions,
): { readonly runtime: ContainerRuntime; readonly faults: Faults<RuntimeFault> } {
  const faults = new Faults<RuntimeFault>(options.random, options.rates ?? {});
  const wrapped = new Proxy(runtime, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || typeof name !== "string" || !changing.has(name)) return typeof member === "function" ? member.bind(target) : member;
      return async (...args: unknown[]) => {
        if (faults.strikes("delay")) await sleep(options.clock, 1 + options.random.integer(options.maxDelayMs ?? 1000));
        if (faults.strikes("failBefore")) throw new RuntimeError("Unavailable", `${name} failed before it happened (injected)`);
        const fails = faults.strikes("failAfter");
        const result: unknown = await member.apply(target, args);
        if (fails) throw new RuntimeError("Unavailable", `${name} failed after it happened (injected)`);
        return result;
      };
    },
  });
  return { runtime: wrapped, faults };
}
