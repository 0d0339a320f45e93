/**
 * An event has two faces, core/v1 and events.k8s.io/v1, and is stored as the first. These functions carry one into the other; no field
 * is lost on the way (API type "Event" of events.k8s.io/v1, fields `deprecated…`).
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Event as CoreEvent } from "../core-v1/types.ts";
import type { Event } from "./types.ts";

/** [core/v1, events.k8s.io/v1] names of the fields that are called differently. */
const renamed = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
] as const;

const toNew: ReadonlyMap<string, string> = new Map(renamed);
const toCore: ReadonlyMap<string, string> = new Map(renamed.map(([core, other]) => [other, core]));

export function eventFromCore(event: DeepReadonly<CoreEvent>): Event {
  return rename(event, toNew, "events.k8s.io/v1") as unknown as Event;
}

export function eventToCore(event: DeepReadonly<Event>): CoreEvent {
  return rename(event, toCore, "v1") as unknown as CoreEvent;
}

/** A shallow copy: members are shared with `event`. */
function rename(event: object, names: ReadonlyMap<string, string>, apiVersion: string): Record<string, unknown> {
  const members = Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]);
  return { ...Object.fromEntries(members), apiVersion };
}
