/** What every route of the kubelet's server works on. */
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { Machine } from "../node/machine.ts";
import type { RuntimeContainer } from "../pod-sync/pod-runtime.ts";
import type { PodWorker } from "../pod-sync/pod-worker.ts";
import type { RuntimeService } from "../runtime/cri.ts";
import type { StatsCollector } from "../stats/snapshot.ts";

/** One node as its server shows it. */
export interface ServedNode {
  readonly nodeName: string;
  readonly clock: Clock;
  readonly machine: Machine;
  readonly settings: KubeletSettings;
  readonly runtime: RuntimeService;
  readonly stats: StatsCollector;
  workers(): Iterable<PodWorker>;
  findPod(namespace: string, name: string): PodWorker | undefined;
  /** Writes a checkpoint of a running container; its path. Rejects with the runtime's error. */
  checkpoint(pod: DeepReadonly<Pod>, container: RuntimeContainer, signal: AbortSignal): Promise<string>;
  /** Whose files `/logs` shows; absent where there is no machine of the node's own. */
  readonly systemLogs?: string;
}

export interface Call {
  readonly options: ServedNode;
  readonly request: ApiRequest;
  /** The path behind the route's name. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export function plain(status: number, text: string): ApiResponse {
  return bytesResponse(status, "text/plain; charset=utf-8", text);
}

export const notFound = () => plain(404, "404 page not found\n");
