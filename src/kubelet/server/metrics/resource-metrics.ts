/** `/metrics/resource` and `/metrics/cadvisor`: what metrics servers and dashboards read of a node, under the names they know. Pure. */
import { quantityMilli, quantityValue } from "../../../apimachinery/quantity.ts";
import type { Machine } from "../../node/machine.ts";
import { containersOf } from "../../pod-sync/runtime-names.ts";
import { cpuShares } from "../../resources/linux-resources.ts";
import type { ContainerSample, PodSample, StatsSnapshot } from "../../stats/snapshot.ts";
import type { InterfaceUsage } from "../../stats/usage.ts";
import { exposition } from "./exposition.ts";
import type { Sample, SampleFamily } from "./exposition.ts";

/** Undefined: nothing could be read. */
export function resourceMetrics(snapshot: StatsSnapshot | undefined): string {
  const error: SampleFamily = {
    name: "resource_scrape_error",
    help: "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
    type: "gauge",
    samples: [{ labels: {}, value: snapshot === undefined ? 1 : 0 }],
  };
  if (snapshot === undefined) return exposition([error]);
  const { node, nodeCpu, atMs, pods } = snapshot;
  const containers = pods.flatMap((pod) => pod.containers.map((container) => ({ labels: { container: container.name, ...podLabels(pod) }, container })));
  return exposition([
    error,
    {
      name: "node_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the node in core-seconds",
      type: "counter",
      samples: [{ labels: {}, value: nodeCpu.nanoSeconds / 1e9, atMs: nodeCpu.atMs }],
    },
    {
      name: "node_memory_working_set_bytes",
      help: "[STABLE] Current working set of the node in bytes",
      type: "gauge",
      samples: [{ labels: {}, value: node.memory.capacityBytes - node.memory.availableBytes, atMs }],
    },
    {
      name: "pod_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the pod in core-seconds",
      type: "counter",
      samples: pods.map((pod) => ({ labels: podLabels(pod), value: pod.cpu.nanoSeconds / 1e9, atMs: pod.cpu.atMs })),
    },
    {
      name: "pod_memory_working_set_bytes",
      help: "[STABLE] Current working set of the pod in bytes",
      type: "gauge",
      samples: pods.map((pod) => ({ labels: podLabels(pod), value: pod.memory.workingSetBytes, atMs: pod.memory.atMs })),
    },
    {
      name: "container_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the container in core-seconds",
      type: "counter",
      samples: containers.map(({ labels, container: { cpu } }) => ({ labels, value: cpu.nanoSeconds / 1e9, atMs: cpu.atMs })),
    },
    {
      name: "container_memory_working_set_bytes",
      help: "[STABLE] Current working set of the container in bytes",
      type: "gauge",
      samples: containers.map(({ labels, container: { memory } }) => ({ labels, value: memory.workingSetBytes, atMs: memory.atMs })),
    },
    {
      name: "container_start_time_seconds",
      help: "[STABLE] Start time of the container since unix epoch in seconds",
      type: "gauge",
      samples: containers.map(({ labels, container: { startedMs } }) => ({ labels, value: startedMs / 1000 })),
    },
  ]);
}

export function cadvisorMetrics({ pods }: StatsSnapshot, machine: Machine): string {
  const containers = pods.flatMap((pod) => pod.containers.map((container) => ({ pod, container, labels: containerLabels(pod, container) })));
  const of = (read: (entry: (typeof containers)[number]) => number | undefined): Sample[] =>
    containers.flatMap((entry) => {
      const value = read(entry);
      return value === undefined ? [] : [{ labels: entry.labels, value, atMs: entry.container.cpu.atMs }];
    });
  const resources = ({ pod, container }: (typeof containers)[number]) =>
    containersOf(pod.pod).find((spec) => spec.container.name === container.name)?.container.resources;
  const milliCpus = (entry: (typeof containers)[number], member: "requests" | "limits") =>
    resources(entry)?.[member]?.["cpu"] === undefined ? undefined : quantityMilli(resources(entry)![member]!["cpu"]!);
  const family = (name: string, help: string, type: SampleFamily["type"], samples: readonly Sample[]): SampleFamily => ({ name, help, type, samples });
  return exposition([
    family(
      "container_cpu_usage_seconds_total",
      "Cumulative cpu time consumed in seconds.",
      "counter",
      of(({ container }) => container.cpu.nanoSeconds / 1e9).map((sample) => ({ ...sample, labels: { ...sample.labels, cpu: "total" } })),
    ),
    family(
      "container_memory_working_set_bytes",
      "Current working set in bytes.",
      "gauge",
      of(({ container }) => container.memory.workingSetBytes),
    ),
    family(
      "container_memory_usage_bytes",
      "Current memory usage in bytes, including all memory regardless of when it was accessed",
      "gauge",
      of(({ container }) => container.memory.usageBytes),
    ),
    family(
      "container_memory_rss",
      "Size of RSS in bytes.",
      "gauge",
      of(({ container }) => container.memory.rssBytes),
    ),
    family(
      "container_fs_usage_bytes",
      "Number of bytes that are consumed by the container on this filesystem.",
      "gauge",
      of(({ container }) => container.rootfs?.bytes),
    ),
    family(
      "container_start_time_seconds",
      "Start time of the container since unix epoch in seconds.",
      "gauge",
      of(({ container }) => container.startedMs / 1000),
    ),
    family(
      "container_last_seen",
      "Last time a container was seen by the exporter",
      "gauge",
      of(({ container }) => Math.trunc(container.cpu.atMs / 1000)),
    ),
    family(
      "container_spec_cpu_period",
      "CPU period of the container.",
      "gauge",
      of(() => 100_000),
    ),
    family(
      "container_spec_cpu_shares",
      "CPU share of the container.",
      "gauge",
      of((entry) => cpuShares(milliCpus(entry, "requests") ?? 0)),
    ),
    family(
      "container_spec_cpu_quota",
      "CPU quota of the container.",
      "gauge",
      of((entry) => (milliCpus(entry, "limits") === undefined ? undefined : milliCpus(entry, "limits")! * 100)),
    ),
    family(
      "container_spec_memory_limit_bytes",
      "Memory limit for the container.",
      "gauge",
      of((entry) => quantityValue(resources(entry)?.limits?.["memory"] ?? 0)),
    ),
    ...interfaceFamilies(pods),
    family("machine_cpu_cores", "Number of logical CPU cores.", "gauge", [
      { labels: { boot_id: machine.bootID, machine_id: machine.machineID, system_uuid: machine.systemUUID }, value: machine.cpus },
    ]),
    family("machine_memory_bytes", "Amount of memory installed on the machine.", "gauge", [
      { labels: { boot_id: machine.bootID, machine_id: machine.machineID, system_uuid: machine.systemUUID }, value: machine.memoryBytes },
    ]),
    family("container_scrape_error", "1 if there was an error while getting container metrics, 0 otherwise", "gauge", [{ labels: {}, value: 0 }]),
  ]);
}

function interfaceFamilies(pods: readonly PodSample[]): SampleFamily[] {
  const rows: readonly [name: string, help: string, read: (usage: InterfaceUsage) => number][] = [
    ["container_network_receive_bytes_total", "Cumulative count of bytes received", ({ rxBytes }) => rxBytes],
    ["container_network_receive_errors_total", "Cumulative count of errors encountered while receiving", ({ rxErrors }) => rxErrors],
    ["container_network_transmit_bytes_total", "Cumulative count of bytes transmitted", ({ txBytes }) => txBytes],
    ["container_network_transmit_errors_total", "Cumulative count of errors encountered while transmitting", ({ txErrors }) => txErrors],
  ];
  return rows.map(([name, help, read]) => ({
    name,
    help,
    type: "counter",
    samples: pods.flatMap((pod) =>
      (pod.network ?? []).map((usage) => ({
        labels: { container: "", id: `/kubepods/pod${pod.pod.metadata.uid}`, image: "", interface: usage.name, name: "", ...podLabels(pod) },
        value: read(usage),
        atMs: pod.cpu.atMs,
      })),
    ),
  }));
}

function podLabels({ pod }: PodSample): { namespace: string; pod: string } {
  return { namespace: pod.metadata.namespace ?? "", pod: pod.metadata.name ?? "" };
}

function containerLabels(pod: PodSample, { name, id, image }: ContainerSample): Record<string, string> {
  return { container: name, id: `/kubepods/pod${pod.pod.metadata.uid}/${id}`, image, name: id, ...podLabels(pod) };
}
