/** What of the machine a container gets to see: its pod's volumes and devices, its hosts file, the file of its last words. */
import { expand } from "../../env/expand.ts";
import { hostNames, hostNetworkHostsFile, hostsFile } from "../../network/host-names.ts";
import type { ContainerConfig, Mount } from "../../runtime/cri-messages.ts";
import type { ReadyVolume } from "../../volumes/volume.ts";
import { volumeMount } from "./container-config.ts";
import type { StartRequest } from "./start-container.ts";

export interface ContainerMounts {
  readonly mounts: readonly Mount[];
  readonly devices: NonNullable<ContainerConfig["devices"]>;
  /** That the volumes' files belong to. */
  readonly groups: readonly number[];
}

/** Throws what the container then shows as CreateContainerConfigError. */
export async function containerMounts(request: StartRequest, environment: ReadonlyMap<string, string>): Promise<ContainerMounts> {
  const { node, pod, spec, attempt } = request;
  const { container } = spec;
  const uid = pod.metadata.uid ?? "";
  const mounts = await volumeMounts(request, environment);
  const devices = (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const { path, isReadOnly } = readyVolume(request, name);
    return { container_path: devicePath, host_path: path, permissions: isReadOnly ? "r" : "mrw" };
  });
  const hosts = await hostsMount(request, mounts);
  if (hosts !== undefined) mounts.push(hosts);
  const messagePath = container.terminationMessagePath ?? "/dev/termination-log";
  const path = await node.storage.writeFile(uid, `containers/${container.name}/${attempt}-termination-log`, "", 0o666);
  if (path !== undefined && messagePath !== "") mounts.push({ container_path: messagePath, host_path: path, readonly: false });
  const groups = (pod.spec?.volumes ?? []).flatMap(({ name }) => node.storage.ready(uid, name)?.groupId ?? []);
  return { mounts, devices, groups };
}

async function volumeMounts(request: StartRequest, environment: ReadonlyMap<string, string>): Promise<Mount[]> {
  const { node, pod, spec } = request;
  const mounts: Mount[] = [];
  for (const [index, mount] of (spec.container.volumeMounts ?? []).entries()) {
    const ready = readyVolume(request, mount.name);
    const subPath = mount.subPathExpr === undefined || mount.subPathExpr === "" ? (mount.subPath ?? "") : expandSubPath(mount.subPathExpr, environment);
    const place = { podUid: pod.metadata.uid ?? "", volumeName: mount.name, containerName: spec.container.name, index, subPath };
    const path = subPath === "" ? ready.path : await node.storage.subPath(place);
    mounts.push(volumeMount({ ...mount, readOnly: mount.readOnly === true || ready.isReadOnly }, path, node.canMountReadOnlyRecursively()));
  }
  return mounts;
}

function readyVolume({ node, pod, spec }: StartRequest, name: string): ReadyVolume {
  const ready = node.storage.ready(pod.metadata.uid ?? "", name);
  if (ready === undefined) throw new Error(`cannot find volume ${JSON.stringify(name)} to mount into container ${JSON.stringify(spec.container.name)}`);
  return ready;
}

/** Undefined when the container has a hosts file of its own, or no pod address to tell. */
async function hostsMount({ node, pod, spec, podIPs }: StartRequest, mounts: readonly Mount[]): Promise<Mount | undefined> {
  if (mounts.some(({ container_path }) => container_path === "/etc/hosts") || podIPs.length === 0) return undefined;
  const text =
    pod.spec?.hostNetwork === true
      ? hostNetworkHostsFile(pod, await node.storage.readEnd("/etc/hosts", maxHostsBytes))
      : hostsFile(pod, podIPs, hostNames(pod, node.dns.clusterDomain));
  const path = await node.storage.writeFile(pod.metadata.uid ?? "", "etc-hosts", text, 0o644);
  return path === undefined
    ? undefined
    : { container_path: "/etc/hosts", host_path: path, readonly: spec.container.securityContext?.readOnlyRootFilesystem === true };
}

const maxHostsBytes = 1 << 20;

/** All names in a sub path must be known. */
function expandSubPath(expression: string, environment: ReadonlyMap<string, string>): string {
  const path = expand(expression, environment);
  if (/\$\([^)]*\)/.test(path)) throw new Error(`missing value for ${JSON.stringify(/\$\(([^)]*)\)/.exec(path)![1])}`);
  return path;
}
