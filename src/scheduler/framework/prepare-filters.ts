import { isRefusal, unresolvable } from "./refusal.ts";
import type { NamedFilter } from "./decision.ts";
import type { Cycle, Plugin } from "./plugin.ts";
import type { Refusal } from "./refusal.ts";

/** Runs PreFilter of every plugin: the filters that have something to say, and the nodes they leave; or the first refusal of all nodes. */
export function prepareFilters(cycle: Cycle, plugins: readonly Plugin[]): PreparedFilters {
  const filters: NamedFilter[] = [];
  const narrowing: string[] = [];
  let nodeNames: ReadonlySet<string> | undefined;
  for (const plugin of plugins) {
    if (plugin.preFilter === undefined) continue;
    const answer = plugin.preFilter(cycle);
    if (answer === "skip") continue;
    if (isRefusal(answer)) return { kind: "refused", refusal: { ...answer, plugin: plugin.name } };
    filters.push({ plugin: plugin.name, filter: answer });
    if (answer.nodeNames === undefined) continue;
    narrowing.push(plugin.name);
    nodeNames = nodeNames === undefined ? answer.nodeNames : nodeNames.intersection(answer.nodeNames);
    if (nodeNames.size === 0) return { kind: "refused", refusal: { ...noneLeft(narrowing), plugin: plugin.name } };
  }
  return { kind: "prepared", filters, nodeNames, narrowing };
}

export type PreparedFilters =
  | {
      readonly kind: "prepared";
      readonly filters: readonly NamedFilter[];
      /** Only these nodes come into question; all when undefined. */
      readonly nodeNames: ReadonlySet<string> | undefined;
      /** The plugins that said so. */
      readonly narrowing: readonly string[];
    }
  | { readonly kind: "refused"; readonly refusal: Refusal };

function noneLeft(plugins: readonly string[]): Refusal {
  return plugins.length === 1
    ? unresolvable(`node(s) didn't satisfy plugin ${plugins[0]}`)
    : unresolvable(`node(s) didn't satisfy plugin(s) [${plugins.join(" ")}] simultaneously`);
}
