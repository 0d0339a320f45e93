/** `/metrics`: what the kubelet counts of its own work. Pure. */
import type { PodWorker } from "../../pod-sync/pod-worker.ts";
import { isStaticPod } from "../../static-pods/static-pod.ts";
import type { PodSample } from "../../stats/snapshot.ts";
import { exposition } from "./exposition.ts";
import { volumeMetrics } from "./volume-metrics.ts";

/** `pods`: with their disks, for the volumes of claims. */
export function kubeletMetrics(nodeName: string, workers: readonly PodWorker[], pods: readonly PodSample[]): string {
  const containers = new Map<string, number>([
    ["created", 0],
    ["exited", 0],
    ["running", 0],
  ]);
  for (const { runtime } of workers) {
    for (const { status } of runtime.containers) {
      const state = status.state.replace("CONTAINER_", "").toLowerCase();
      containers.set(state, (containers.get(state) ?? 0) + 1);
    }
  }
  return exposition([
    { name: "kubelet_node_name", help: "[ALPHA] The node's name. The count is always 1.", type: "gauge", samples: [{ labels: { node: nodeName }, value: 1 }] },
    {
      name: "kubelet_running_pods",
      help: "[ALPHA] Number of pods that have a running pod sandbox",
      type: "gauge",
      samples: [{ labels: {}, value: workers.filter(({ runtime }) => runtime.sandboxes.some(({ state }) => state === "SANDBOX_READY")).length }],
    },
    {
      name: "kubelet_running_containers",
      help: "[ALPHA] Number of containers currently running",
      type: "gauge",
      samples: [...containers].map(([container_state, value]) => ({ labels: { container_state }, value })),
    },
    {
      name: "kubelet_desired_pods",
      help: "[ALPHA] The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.",
      type: "gauge",
      samples: desired(workers),
    },
    {
      name: "kubelet_active_pods",
      help: "[ALPHA] The number of pods the kubelet considers active and which are being considered when admitting new pods. static is true if the pod is not from the apiserver.",
      type: "gauge",
      samples: desired(workers.filter(({ isActive }) => isActive)),
    },
    ...volumeMetrics(pods),
  ]);
}

function desired(workers: readonly PodWorker[]) {
  const count = (isStatic: boolean) => workers.filter(({ pod }) => isStaticPod(pod) === isStatic).length;
  return [false, true].map((isStatic) => ({ labels: { static: isStatic ? "true" : "" }, value: count(isStatic) }));
}
