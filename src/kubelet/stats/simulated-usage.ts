/** What a simulated node and its pods use: what annotations of the pods say (`runtime/simulated-rules.ts`), of the machine they pretend to be on. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Machine } from "../node/machine.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";
import { defaultMemoryBytes, ruleFor, ruleNumber } from "../runtime/simulated-rules.ts";
import { diskUsage } from "./sums.ts";
import type { NodeUsage, PodUsage, UsageSource } from "./usage.ts";

/** `pods`: those whose containers run. */
export function simulatedUsage(machine: Machine, pods: () => readonly DeepReadonly<Pod>[]): UsageSource {
  const usages = () =>
    new Map(
      pods()
        .filter(isMeasured)
        .map((pod) => [pod.metadata.uid ?? "", podUsage(pod)]),
    );
  const plain = () => pods().filter((pod) => !isMeasured(pod));
  return { node: async () => nodeUsage(machine, [...usages().values()], plain()), pods: async () => usages() };
}

const isMeasured = ({ metadata }: DeepReadonly<Pod>) => Object.keys(metadata.annotations ?? {}).some((name) => name.startsWith("simulated.coracle.dev/usage"));

function podUsage(pod: DeepReadonly<Pod>): PodUsage {
  const rules = containersOf(pod)
    .filter(({ kind }) => kind !== "ephemeralContainers")
    .map(({ container }) => ({ name: container.name, rule: ruleFor("usage", pod.metadata.annotations, container.name) }));
  const volumes = (pod.spec?.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined);
  return {
    memoryBytes: rules.reduce((sum, { rule }) => sum + ruleNumber(rule, "memory-bytes", 0), 0),
    processes: rules.reduce((sum, { rule }) => sum + ruleNumber(rule, "processes", 1), 0),
    containers: rules.map(({ name, rule }) => ({
      name,
      memoryBytes: ruleNumber(rule, "memory-bytes", 0),
      rootfs: { bytes: ruleNumber(rule, "disk-bytes", 0), inodes: ruleNumber(rule, "inodes", 1) },
      logs: { bytes: ruleNumber(rule, "log-bytes", 0), inodes: 1 },
    })),
    volumes: volumes.map(({ name }) => ({ name, bytes: rules.reduce((sum, { rule }) => sum + ruleNumber(rule, `volume-bytes-${name}`, 0), 0), inodes: 1 })),
  };
}

/** `plain`: pods that say nothing of what they use. */
function nodeUsage(machine: Machine, pods: readonly PodUsage[], plain: readonly DeepReadonly<Pod>[]): NodeUsage {
  const plainBytes = plain.reduce((total, { spec }) => total + (spec?.containers?.length ?? 0) * defaultMemoryBytes, 0);
  const sum = (read: (pod: PodUsage) => number) => pods.reduce((total, pod) => total + read(pod), 0);
  const disk = (member: "bytes" | "inodes") => sum((pod) => diskUsage(pod, ["rootfs", "logs", "volumes"])[member]);
  const filesystem = {
    capacityBytes: machine.storageBytes,
    availableBytes: Math.max(0, machine.storageBytes - disk("bytes")),
    usedBytes: disk("bytes"),
    inodes: simulatedInodes,
    inodesFree: Math.max(0, simulatedInodes - disk("inodes")),
  };
  return {
    memory: { capacityBytes: machine.memoryBytes, availableBytes: Math.max(0, machine.memoryBytes - plainBytes - sum(({ memoryBytes = 0 }) => memoryBytes)) },
    nodefs: filesystem,
    imagefs: filesystem,
    isOneFilesystem: true,
    processes: { max: simulatedProcesses, running: sum(({ processes = 0 }) => processes) },
  };
}

const simulatedInodes = 64 * 1024 * 1024;
const simulatedProcesses = 4_194_304;
