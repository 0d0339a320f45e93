import { concerns } from "../framework/cluster-event.ts";
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { Plugin } from "../framework/plugin.ts";
import type { Profile } from "../framework/profile.ts";
import type { QueueEntry } from "./queue-entry.ts";

/** How a pod is to be tried again after an event. */
export type Requeue = "skip" | "afterBackoff" | "now";

/** Whether an event may help a pod, by the hints of the plugins that refused it. */
export function requeueAfter(entry: QueueEntry, event: ClusterEvent, profile: Profile): Requeue {
  if (entry.rejectors.size + entry.pendingPlugins.size === 0 || event.resource === "*") return "afterBackoff";
  let strategy: Requeue = "skip";
  for (const plugin of profile.plugins) {
    const isPending = entry.pendingPlugins.has(plugin.name);
    if (!isPending && !entry.rejectors.has(plugin.name)) continue;
    if (!mayHelp(plugin, entry, event)) continue;
    if (isPending) return "now";
    strategy = "afterBackoff";
  }
  return strategy;
}

/** Which plugins of a profile want to hear of an event, remembered by its kind. */
export class Listeners {
  readonly #profile: Profile;
  readonly #known = new Map<string, readonly string[]>();

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  of(event: ClusterEvent): readonly string[] {
    const kind = `${event.resource} ${event.action}`;
    let names = this.#known.get(kind);
    if (names === undefined) {
      const listening = this.#profile.plugins.filter(({ events }) => events?.some((hint) => concerns(hint, event)) === true);
      this.#known.set(kind, (names = listening.map(({ name }) => name)));
    }
    return names;
  }
}

function mayHelp({ events = [] }: Plugin, entry: QueueEntry, event: ClusterEvent): boolean {
  return events.some((hint) => concerns(hint, event) && (hint.helps === undefined || hint.helps(entry.info, event)));
}
