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

/** The plugins of a profile that want to hear of the event. */
export function listeners(profile: Profile, event: ClusterEvent): readonly string[] {
  return profile.plugins.filter(({ events }) => events?.some((hint) => concerns(hint, event)) === true).map(({ name }) => name);
}

function mayHelp({ events = [] }: Plugin, entry: QueueEntry, event: ClusterEvent): boolean {
  return events.some((hint) => concerns(hint, event) && (hint.helps === undefined || hint.helps(entry.info, event)));
}
