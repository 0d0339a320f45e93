import { isNotFound, isStatusReason } from "../../apimachinery/status.ts";
import { discoverResources, metadataOf, preferredResources, resourceLabel } from "../../client/index.ts";
import type { Client, DiscoveredResource } from "../../client/index.ts";
import type { DeletionFindings } from "./conditions.ts";

/**
 * Deletes all that a namespace holds, of every resource the server offers, pods first (KEP-5080): nothing else goes before the last pod
 * has gone, so that pods do not lose what protects them. Returns what is left.
 */
export async function deleteContent(client: Client, namespace: string, signal: AbortSignal): Promise<DeletionFindings> {
  const discovered = await discoverResources(client, { signal });
  const deletable = preferredResources(discovered).filter(({ type, verbs }) => type.isNamespaced && verbs.has("delete") && verbs.has("list"));
  const findings = new Findings(staleGroups(discovered));
  const isPods = ({ type }: DiscoveredResource) => type.group === "" && type.resource === "pods";
  for (const pods of deletable.filter(isPods)) await findings.collect(client, namespace, pods, signal);
  findings.isWaitingForPods = findings.remaining.size > 0;
  if (findings.isWaitingForPods || findings.contentFaults.length > 0) return findings;
  const others = deletable.filter((resource) => !isPods(resource));
  await Promise.all(others.map((resource) => findings.collect(client, namespace, resource, signal)));
  return findings;
}

class Findings implements DeletionFindings {
  readonly discoveryFault: string | undefined;
  readonly contentFaults: string[] = [];
  readonly remaining = new Map<string, number>();
  readonly finalizers = new Map<string, number>();
  isWaitingForPods = false;

  constructor(stale: readonly string[]) {
    if (stale.length > 0)
      this.discoveryFault = `Discovery failed for some groups, ${stale.length} failing: unable to retrieve the complete list of server APIs: ${stale.join(", ")}`;
  }

  async collect(client: Client, namespace: string, resource: DiscoveredResource, signal: AbortSignal): Promise<void> {
    const type = metadataOf(resource.type);
    try {
      let left = await client.list(type, namespace, { signal });
      if (left.items.length > 0) {
        if (resource.verbs.has("deletecollection")) await client.deleteCollection(resource.type, namespace, {}, { signal, propagationPolicy: "Background" });
        else await Promise.all(left.items.map(({ metadata }) => deleteOne(client, resource, namespace, metadata.name ?? "", signal)));
        left = await client.list(type, namespace, { signal });
      }
      if (left.items.length > 0) this.remaining.set(`${resourceLabel(type)}.`, left.items.length);
      for (const { metadata } of left.items) for (const name of metadata.finalizers ?? []) this.finalizers.set(name, (this.finalizers.get(name) ?? 0) + 1);
    } catch (error) {
      if (signal.aborted) throw error;
      // The resource has gone since discovery, or is not to be listed.
      if (isNotFound(error) || isStatusReason(error, "MethodNotAllowed")) return;
      this.contentFaults.push(error instanceof Error ? error.message : String(error));
    }
  }
}

async function deleteOne(client: Client, { type }: DiscoveredResource, namespace: string, name: string, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(type, namespace, name, { signal, propagationPolicy: "Background" });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function staleGroups(discovered: readonly DiscoveredResource[]): string[] {
  return [
    ...new Set(
      discovered
        .filter(({ isStale }) => isStale)
        .map(({ type }) => `${type.group}/${type.version}: stale GroupVersion discovery: ${type.group}/${type.version}`),
    ),
  ];
}
