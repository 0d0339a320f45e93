import { parseTime } from "../../apimachinery/time.ts";
import { keyOf } from "../../client/index.ts";
import { hasSelector } from "./service-pods.ts";
import { podCondition } from "../pods/pod-state.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, Service } from "../../api/core-v1/types.ts";

/**
 * When the oldest change happened that a Service's addresses do not show yet: what network programming latency is measured from. Asked
 * once per look at a Service; knows what it saw at the last one. Losing this memory only loses a measurement.
 */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>();

  /** RFC 3339, or undefined when nothing that has a time has changed since the last question. */
  next(service: DeepReadonly<Service>, pods: readonly DeepReadonly<Pod>[]): string | undefined {
    const key = keyOf(service);
    if (!hasSelector(service)) {
      this.forget(key);
      return undefined;
    }
    const before = this.#seen.get(key);
    const now: Seen = { service: service.metadata.creationTimestamp ?? "", pods: new Map(pods.map((pod) => [pod.metadata.name ?? "", readySince(pod)])) };
    this.#seen.set(key, now);
    const changed = [...now.pods].filter(([name, time]) => isAfter(time, before?.pods.get(name))).map(([, time]) => time);
    if (isAfter(now.service, before?.service)) changed.push(now.service);
    return changed.sort()[0];
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}

interface Seen {
  readonly service: string;
  readonly pods: ReadonlyMap<string, string>;
}

function readySince(pod: DeepReadonly<Pod>): string {
  const condition = podCondition(pod, "Ready");
  return condition?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? "";
}

function isAfter(time: string, before: string | undefined): boolean {
  return time !== "" && (before === undefined || before === "" || parseTime(time) > parseTime(before));
}
