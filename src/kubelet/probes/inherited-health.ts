/** What an earlier kubelet told of containers, by their ids. Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { AssumedHealth } from "./prober.ts";

export function inheritedHealth({ status }: DeepReadonly<Pod>): Map<string, AssumedHealth> {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return new Map(
    statuses.map(({ containerID = "", ready, started }) => [containerID.replace(/^.*:\/\//, ""), { isReady: ready, isStarted: started === true }]),
  );
}
