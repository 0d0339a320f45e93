/** Rows of the core kinds, except pods (pod-columns.ts). */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { accessModesText, age, containerCells, createdAt, cutList, instantMs, labelsText, loadBalancerText, nameOf, orNone, since } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type {
  ComponentStatus,
  ConfigMap,
  Endpoints,
  Event,
  EventSource,
  LimitRange,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
  ServicePort,
} from "./types.ts";

export const componentStatusColumns: TablePrinter<ComponentStatus> = {
  cells(status) {
    const healthy = status.conditions?.find(({ type }) => type === "Healthy");
    const health = healthy === undefined ? "Unknown" : healthy.status === "True" ? "Healthy" : "Unhealthy";
    return [nameOf(status), health, healthy?.message ?? "", healthy?.error ?? ""];
  },
};

export const configMapColumns: TablePrinter<ConfigMap> = {
  cells: (configMap, context) => [nameOf(configMap), countKeys(configMap.data) + countKeys(configMap.binaryData), age(configMap, context)],
};

export const endpointsColumns: TablePrinter<Endpoints> = {
  cells: (endpoints, context) => [nameOf(endpoints), endpointsText(endpoints), age(endpoints, context)],
};

export const eventColumns: TablePrinter<Event> = {
  cells(event, context) {
    const { involvedObject: target, series, source } = event;
    const first = since(instantMs(event.firstTimestamp) === undefined ? event.eventTime : event.firstTimestamp, context);
    const last = series === undefined ? event.lastTimestamp : series.lastObservedTime;
    const kind = (target?.kind ?? "").toLowerCase();
    return [
      series === undefined && instantMs(last) === undefined ? first : since(last, context),
      event.type ?? "",
      event.reason ?? "",
      target?.name === undefined || target.name === "" ? kind : `${kind}/${target.name}`,
      target?.fieldPath ?? "",
      sourceText(source, event.reportingComponent, event.reportingInstance),
      (event.message ?? "").trim(),
      first,
      series?.count ?? (event.count || 1),
      nameOf(event),
    ];
  },
};

export const limitRangeColumns: TablePrinter<LimitRange> = { cells: (limitRange) => [nameOf(limitRange), createdAt(limitRange)], isPlain: true };

export const namespaceColumns: TablePrinter<Namespace> = {
  cells: (namespace, context) => [nameOf(namespace), namespace.status?.phase ?? "", age(namespace, context)],
};

export const nodeColumns: TablePrinter<Node> = {
  cells(node, context) {
    const info = node.status?.nodeInfo;
    const address = (type: string) => orNone(node.status?.addresses?.find((candidate) => candidate.type === type)?.address);
    const kernel = orUnknown(info?.kernelVersion);
    return [
      nameOf(node),
      nodeStatus(node),
      orNone(nodeRoles(node).join(",")),
      age(node, context),
      info?.kubeletVersion ?? "",
      address("InternalIP"),
      address("ExternalIP"),
      orUnknown(info?.osImage),
      kernel === "<unknown>" || !info?.architecture ? kernel : `${kernel} (${info.architecture})`,
      orUnknown(info?.containerRuntimeVersion),
    ];
  },
};

export const persistentVolumeColumns: TablePrinter<PersistentVolume> = {
  cells(volume, context) {
    const { spec, status } = volume;
    return [
      nameOf(volume),
      String(spec?.capacity?.storage ?? "0"),
      accessModesText(spec?.accessModes),
      spec?.persistentVolumeReclaimPolicy ?? "",
      phaseText(volume),
      spec?.claimRef === undefined ? "" : `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}`,
      storageClassName(volume),
      spec?.volumeAttributesClassName ?? "<unset>",
      status?.reason ?? "",
      age(volume, context),
      spec?.volumeMode ?? "<unset>",
    ];
  },
};

export const persistentVolumeClaimColumns: TablePrinter<PersistentVolumeClaim> = {
  cells(claim, context) {
    const { spec, status } = claim;
    const isBound = (spec?.volumeName ?? "") !== "";
    return [
      nameOf(claim),
      phaseText(claim),
      spec?.volumeName ?? "",
      isBound ? String(status?.capacity?.storage ?? "0") : "",
      isBound ? accessModesText(status?.accessModes) : "",
      storageClassName(claim),
      spec?.volumeAttributesClassName ?? "<unset>",
      age(claim, context),
      spec?.volumeMode ?? "<unset>",
    ];
  },
};

export const podTemplateColumns: TablePrinter<PodTemplate> = {
  cells: ({ template, ...rest }) => [nameOf(rest), ...containerCells(template?.spec), labelsText(template?.metadata?.labels)],
};

export const replicationControllerColumns: TablePrinter<ReplicationController> = {
  cells(controller, context) {
    const { spec, status } = controller;
    const counts = [spec?.replicas ?? 0, status?.replicas ?? 0, status?.readyReplicas ?? 0];
    return [nameOf(controller), ...counts, age(controller, context), ...containerCells(spec?.template?.spec), labelsText(spec?.selector)];
  },
};

export const resourceQuotaColumns: TablePrinter<ResourceQuota> = {
  cells(quota, context) {
    const { hard = {}, used = {} } = quota.status ?? {};
    const names = Object.keys(hard).sort();
    const usage = (isWanted: (name: string) => boolean) =>
      names
        .filter(isWanted)
        .map((name) => `${name}: ${used[name] ?? "0"}/${hard[name]}`)
        .join(", ");
    const isLimit = (name: string) => name.startsWith("limits");
    return [nameOf(quota), usage((name) => !isLimit(name)), usage(isLimit), age(quota, context)];
  },
};

export const secretColumns: TablePrinter<Secret> = {
  cells: (secret, context) => [nameOf(secret), secret.type ?? "", countKeys(secret.data), age(secret, context)],
};

export const serviceColumns: TablePrinter<Service> = {
  cells(service, context) {
    const { spec } = service;
    return [
      nameOf(service),
      spec?.type ?? "",
      spec?.clusterIPs?.[0] ?? orNone(spec?.clusterIP),
      externalAddress(service),
      orNone((spec?.ports ?? []).map(portText).join(",")),
      age(service, context),
      labelsText(spec?.selector),
    ];
  },
};

export const serviceAccountColumns: TablePrinter<ServiceAccount> = { cells: (account, context) => [nameOf(account), age(account, context)] };

function countKeys(map: object | undefined): number {
  return Object.keys(map ?? {}).length;
}

function endpointsText({ subsets }: DeepReadonly<Endpoints>): string {
  if (subsets === undefined || subsets.length === 0) return "<none>";
  const texts = subsets.flatMap(({ addresses = [], ports = [] }) => {
    if (ports.length === 0) return addresses.map(({ ip }) => ip);
    return ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip.includes(":") ? `[${ip}]` : ip}:${port}`));
  });
  return cutList(texts, 3);
}

/** Who reported an event: component and host, or what newer events carry instead of each. */
function sourceText(source: DeepReadonly<EventSource> | undefined, reportingComponent = "", reportingInstance = ""): string {
  const component = source?.component || reportingComponent;
  const instance = source?.host || reportingInstance;
  return instance === "" ? component : `${component}, ${instance}`;
}

function nodeStatus({ spec, status }: DeepReadonly<Node>): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const text = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec?.unschedulable === true ? `${text},SchedulingDisabled` : text;
}

function nodeRoles({ metadata }: DeepReadonly<Node>): string[] {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.entries(metadata.labels ?? {}).map(([key, value]) =>
    key.startsWith(prefix) ? key.slice(prefix.length) : key === "kubernetes.io/role" ? value : "",
  );
  return [...new Set(roles.filter((role) => role !== ""))].sort();
}

function orUnknown(text: string | undefined): string {
  return text === undefined || text === "" ? "<unknown>" : text;
}

function phaseText({ metadata, status }: DeepReadonly<PersistentVolume> | DeepReadonly<PersistentVolumeClaim>): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? "") : "Terminating";
}

/** The annotation that named the class before the field did still wins. */
function storageClassName({ metadata, spec }: DeepReadonly<PersistentVolume> | DeepReadonly<PersistentVolumeClaim>): string {
  return metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? spec?.storageClassName ?? "";
}

function externalAddress({ spec, status }: DeepReadonly<Service>): string {
  const externalIps = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case "ClusterIP":
    case "NodePort":
      return orNone(externalIps.join(","));
    case "LoadBalancer": {
      const balancers = loadBalancerText(status?.loadBalancer?.ingress);
      const addresses = balancers === "" ? externalIps : [balancers, ...externalIps];
      return addresses.length === 0 ? "<pending>" : addresses.join(",");
    }
    case "ExternalName":
      return spec.externalName ?? "";
    default:
      return "<unknown>";
  }
}

function portText({ port, nodePort, protocol }: DeepReadonly<ServicePort>): string {
  return nodePort === undefined || nodePort === 0 ? `${port}/${protocol ?? "TCP"}` : `${port}:${nodePort}/${protocol ?? "TCP"}`;
}
