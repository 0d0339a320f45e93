/** What the API is told of the node's CSI drivers: the CSINode, and the Node's annotation and topology labels. */
import { deepEqual } from "../../../apimachinery/json.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../../apimachinery/status.ts";
import type { CSINode, CSINodeDriver } from "../../../api/storage-v1/types.ts";
import { resources } from "../../../client/index.ts";
import type { Client } from "../../../client/index.ts";
import type { NodeInfo } from "./csi-driver.ts";

const idsAnnotation = "csi.volume.kubernetes.io/nodeid";
/** Volumes once built in whose CSI drivers took over: schedulers count their limits there. */
const migratedAnnotation = "storage.alpha.kubernetes.io/migrated-plugins";
const migratedPlugins = ["aws-ebs", "azure-disk", "azure-file", "cinder", "gce-pd", "portworx-volume", "vsphere-volume"]
  .map((name) => `kubernetes.io/${name}`)
  .join(",");
interface Target {
  readonly client: Client;
  readonly nodeName: string;
}

/** Tells of a node without drivers, so that schedulers know there are none, not that nobody has told. */
export async function announceNode(target: Target, signal: AbortSignal): Promise<void> {
  await changeDrivers(target, (drivers) => [...drivers], signal);
}

export async function announceDriver(name: string, info: NodeInfo, target: Target, signal: AbortSignal): Promise<void> {
  const segments = info.accessible_topology?.segments ?? {};
  await changeNode(target, (ids) => ({ ...ids, [name]: info.node_id }), segments, signal);
  const driver: CSINodeDriver = {
    name,
    nodeID: info.node_id,
    topologyKeys: Object.keys(segments).toSorted(),
    ...(info.max_volumes_per_node > 0 && { allocatable: { count: info.max_volumes_per_node } }),
  };
  await changeDrivers(target, (drivers) => [...drivers.filter((other) => other.name !== name), driver], signal);
}

export async function withdrawDriver(name: string, target: Target): Promise<void> {
  await changeDrivers(target, (drivers) => drivers.filter((other) => other.name !== name));
  await changeNode(target, ({ [name]: _gone, ...ids }) => ids, {});
}

async function changeNode(
  { client, nodeName }: Target,
  change: (ids: Readonly<Record<string, string>>) => Record<string, string>,
  labels: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<void> {
  const node = await client.get(resources.nodes, "", nodeName, { ...(signal !== undefined && { signal }) });
  const before = node.metadata.annotations?.[idsAnnotation];
  const ids = change(before === undefined ? {} : (JSON.parse(before) as Record<string, string>));
  const after = Object.keys(ids).length === 0 ? null : JSON.stringify(ids);
  const isLabelled = Object.entries(labels).every(([key, value]) => node.metadata.labels?.[key] === value);
  if (after === (before ?? null) && isLabelled) return;
  const body = { metadata: { annotations: { [idsAnnotation]: after }, labels } };
  await client.patch(resources.nodes, "", nodeName, { type: "strategic", body, ...(signal !== undefined && { signal }) });
}

async function changeDrivers(target: Target, change: (drivers: readonly CSINodeDriver[]) => CSINodeDriver[], signal?: AbortSignal): Promise<void> {
  const { client, nodeName } = target;
  const options = signal === undefined ? {} : { signal };
  for (;;) {
    const known = await client.get(resources.csiNodes, "", nodeName, options).catch(unlessNotFound);
    const drivers = change(known?.spec.drivers ?? []);
    if (known !== undefined && deepEqual(drivers, known.spec.drivers ?? [])) return;
    try {
      if (known === undefined) await client.create(resources.csiNodes, await newCsiNode(target, drivers, signal), options);
      else await client.update(resources.csiNodes, { ...known, spec: { ...known.spec, drivers } }, options);
      return;
    } catch (error) {
      // Somebody else was quicker: look again.
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }
}

async function newCsiNode({ client, nodeName }: Target, drivers: CSINodeDriver[], signal?: AbortSignal): Promise<CSINode> {
  const { metadata } = await client.get(resources.nodes, "", nodeName, { ...(signal !== undefined && { signal }) });
  return {
    metadata: {
      name: nodeName,
      annotations: { [migratedAnnotation]: migratedPlugins },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: metadata.uid ?? "" }],
    },
    spec: { drivers },
  };
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
