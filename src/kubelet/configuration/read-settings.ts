/** The settings from a configuration file (KubeletConfiguration, kubelet.config.k8s.io/v1beta1) and flags; flags win. Pure. */
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import { quantityValue } from "../../apimachinery/quantity.ts";
import { ConfigurationError } from "./configuration-error.ts";
import { parseDurationMs } from "../../apimachinery/go/go-duration.ts";
import { defaultSettings } from "./settings.ts";
import type { KubeletSettings } from "./settings.ts";
import { settingFaults } from "./validate-settings.ts";

export interface ReadSettings {
  readonly settings: KubeletSettings;
  /** Fields of the file and flags that are not heeded. */
  readonly ignored: readonly string[];
}

/** `file`: the parsed document, if there is one; `flags`: by name without dashes, each with all its values. Throws `ConfigurationError`. */
export function readSettings(file: JsonValue | undefined, flags: ReadonlyMap<string, readonly string[]>): ReadSettings {
  const document = readDocument(file);
  const known = new Set(["apiVersion", "kind"]);
  const knownFlags = new Set(["config", "port", "image-credential-provider-config", "image-credential-provider-bin-dir"]);
  const values: Partial<Record<keyof KubeletSettings, unknown>> = {};
  for (const [name, source] of Object.entries(sources) as [keyof KubeletSettings, Source][]) {
    const [field, kind, flag] = source;
    known.add(field);
    if (document[field] !== undefined && document[field] !== null) values[name] = readField(field, kind, document[field]);
    const texts = flag === undefined ? undefined : flags.get(flag);
    if (flag !== undefined) knownFlags.add(flag);
    if (texts !== undefined && texts.length > 0) values[name] = readFlag(flag!, kind, texts);
  }
  const settings = { ...defaultSettings, ...values } as KubeletSettings;
  const faults = settingFaults(settings);
  if (faults.length > 0)
    throw new ConfigurationError(`failed to validate kubelet configuration, error: ${faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`}`);
  const ignored = [
    ...Object.keys(document).filter((field) => !known.has(field)),
    ...[...flags.keys()].filter((flag) => !knownFlags.has(flag)).map((flag) => `--${flag}`),
  ];
  return { settings, ignored };
}

export type Kind = "text" | "number" | "boolean" | "duration" | "bytes" | "map" | "list" | "headers" | "taints" | "memory" | "objects";
export type Source = readonly [field: string, kind: Kind, flag?: string];

export const sources: Readonly<Record<keyof KubeletSettings, Source>> = {
  allowedUnsafeSysctls: ["allowedUnsafeSysctls", "list", "allowed-unsafe-sysctls"],
  cgroupRoot: ["cgroupRoot", "text", "cgroup-root"],
  cgroupsPerQOS: ["cgroupsPerQOS", "boolean", "cgroups-per-qos"],
  containerLogMaxFiles: ["containerLogMaxFiles", "number", "container-log-max-files"],
  containerLogMaxBytes: ["containerLogMaxSize", "bytes", "container-log-max-size"],
  cpuManagerPolicy: ["cpuManagerPolicy", "text", "cpu-manager-policy"],
  cpuManagerPolicyOptions: ["cpuManagerPolicyOptions", "map", "cpu-manager-policy-options"],
  enforceNodeAllocatable: ["enforceNodeAllocatable", "list", "enforce-node-allocatable"],
  evictionHard: ["evictionHard", "map", "eviction-hard"],
  evictionMaxPodGracePeriodSeconds: ["evictionMaxPodGracePeriod", "number", "eviction-max-pod-grace-period"],
  evictionMinimumReclaim: ["evictionMinimumReclaim", "map", "eviction-minimum-reclaim"],
  evictionPressureTransitionMs: ["evictionPressureTransitionPeriod", "duration", "eviction-pressure-transition-period"],
  evictionSoft: ["evictionSoft", "map", "eviction-soft"],
  evictionSoftGracePeriod: ["evictionSoftGracePeriod", "map", "eviction-soft-grace-period"],
  fileCheckMs: ["fileCheckFrequency", "duration", "file-check-frequency"],
  httpCheckMs: ["httpCheckFrequency", "duration", "http-check-frequency"],
  imageGCHighThresholdPercent: ["imageGCHighThresholdPercent", "number", "image-gc-high-threshold"],
  imageGCLowThresholdPercent: ["imageGCLowThresholdPercent", "number", "image-gc-low-threshold"],
  imageMaximumGCAgeMs: ["imageMaximumGCAge", "duration"],
  imageMinimumGCAgeMs: ["imageMinimumGCAge", "duration", "minimum-image-ttl-duration"],
  imagePullCredentialsVerificationPolicy: ["imagePullCredentialsVerificationPolicy", "text"],
  kubeReserved: ["kubeReserved", "map", "kube-reserved"],
  localStorageCapacityIsolation: ["localStorageCapacityIsolation", "boolean", "local-storage-capacity-isolation"],
  maxParallelImagePulls: ["maxParallelImagePulls", "number"],
  maxPods: ["maxPods", "number", "max-pods"],
  memoryManagerPolicy: ["memoryManagerPolicy", "text", "memory-manager-policy"],
  nodeLabels: ["nodeLabels", "map", "node-labels"],
  nodeStatusMaxImages: ["nodeStatusMaxImages", "number", "node-status-max-images"],
  podPidsLimit: ["podPidsLimit", "number", "pod-max-pids"],
  preloadedImagesVerificationAllowlist: ["preloadedImagesVerificationAllowlist", "list"],
  registerWithTaints: ["registerWithTaints", "taints", "register-with-taints"],
  registryBurst: ["registryBurst", "number", "registry-burst"],
  registryPullQPS: ["registryPullQPS", "number", "registry-qps"],
  reservedMemory: ["reservedMemory", "memory", "reserved-memory"],
  reservedSystemCPUs: ["reservedSystemCPUs", "text", "reserved-cpus"],
  runtimeRequestTimeoutMs: ["runtimeRequestTimeout", "duration", "runtime-request-timeout"],
  serializeImagePulls: ["serializeImagePulls", "boolean", "serialize-image-pulls"],
  shutdownGracePeriodByPodPriority: ["shutdownGracePeriodByPodPriority", "objects"],
  shutdownGracePeriodCriticalPodsMs: ["shutdownGracePeriodCriticalPods", "duration"],
  shutdownGracePeriodMs: ["shutdownGracePeriod", "duration"],
  staticPodPath: ["staticPodPath", "text", "pod-manifest-path"],
  staticPodURL: ["staticPodURL", "text", "manifest-url"],
  staticPodURLHeader: ["staticPodURLHeader", "headers", "manifest-url-header"],
  systemReserved: ["systemReserved", "map", "system-reserved"],
  tlsCertFile: ["tlsCertFile", "text", "tls-cert-file"],
  tlsCipherSuites: ["tlsCipherSuites", "list", "tls-cipher-suites"],
  tlsMinVersion: ["tlsMinVersion", "text", "tls-min-version"],
  tlsPrivateKeyFile: ["tlsPrivateKeyFile", "text", "tls-private-key-file"],
  topologyManagerPolicy: ["topologyManagerPolicy", "text", "topology-manager-policy"],
  topologyManagerScope: ["topologyManagerScope", "text", "topology-manager-scope"],
  volumeStatsAggMs: ["volumeStatsAggPeriod", "duration", "volume-stats-agg-period"],
};

function readDocument(file: JsonValue | undefined): JsonObject {
  if (file === undefined) return {};
  if (!isObject(file)) throw new ConfigurationError("the configuration file holds no object");
  const { apiVersion, kind } = file;
  if (apiVersion !== "kubelet.config.k8s.io/v1beta1" || kind !== "KubeletConfiguration") {
    throw new ConfigurationError(
      `the configuration file is to be a KubeletConfiguration of kubelet.config.k8s.io/v1beta1; not ${String(kind)} of ${String(apiVersion)}`,
    );
  }
  return file as JsonObject;
}

function readField(field: string, kind: Kind, value: JsonValue): unknown {
  const wrong = (what: string) => new ConfigurationError(`${field} is to be ${what}; not ${JSON.stringify(value)}`);
  switch (kind) {
    case "number":
      if (typeof value !== "number" || !Number.isInteger(value)) throw wrong("a whole number");
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw wrong("true or false");
      return value;
    case "text":
      if (typeof value !== "string") throw wrong("a text");
      return value;
    case "duration":
    case "bytes":
      return readText(field, kind, String(value));
    case "map":
      if (!isObject(value)) throw wrong("a map of texts");
      return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
    case "headers":
      if (!isObject(value)) throw wrong("a map of lists of texts");
      return value;
    case "list":
    case "taints":
    case "memory":
    case "objects":
      if (!Array.isArray(value)) throw wrong("a list");
      return value;
  }
}

function readFlag(flag: string, kind: Kind, texts: readonly string[]): unknown {
  const last = texts.at(-1)!;
  const wrong = (what: string) => new ConfigurationError(`invalid argument ${JSON.stringify(last)} for "--${flag}": it is to be ${what}`);
  switch (kind) {
    case "text":
      return last;
    case "number":
      if (!/^-?\d+$/.test(last)) throw wrong("a whole number");
      return Number(last);
    case "boolean":
      if (last !== "true" && last !== "false") throw wrong("true or false");
      return last === "true";
    case "duration":
    case "bytes":
      return readText(`--${flag}`, kind, last);
    case "list":
      return texts.flatMap(listed);
    case "map":
      return Object.fromEntries(texts.flatMap(listed).map((item) => pairOf(item, /[<=]/) ?? fail(wrong("a list of name=value"))));
    case "headers":
      return headersOf(texts.flatMap(listed).map((item) => pairOf(item, /:/) ?? fail(wrong("a list of name:value"))));
    case "taints":
      return texts.flatMap(listed).map((item) => taintOf(item) ?? fail(wrong("a list of key=value:effect")));
    case "memory":
      return last.split(";").map((item) => reservedMemoryOf(item) ?? fail(wrong("a list of NUMA-NODE:name=amount,…")));
    case "objects":
      throw wrong("in the configuration file");
  }
}

function readText(name: string, kind: "duration" | "bytes", text: string): number {
  try {
    return kind === "bytes" ? quantityValue(text) : parseDurationMs(text);
  } catch (cause) {
    throw new ConfigurationError(`${name}: ${(cause as Error).message}`, { cause });
  }
}

const listed = (text: string) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

function pairOf(item: string, separator: RegExp): [string, string] | undefined {
  const at = item.search(separator);
  return at < 1 ? undefined : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
}

function headersOf(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of pairs) (headers[name] ??= []).push(value);
  return headers;
}

function taintOf(item: string): KubeletSettings["registerWithTaints"][number] | undefined {
  const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(item);
  if (match === null) return undefined;
  return { key: match[1]!, ...(match[2] !== undefined && { value: match[2] }), effect: match[3]! };
}

function reservedMemoryOf(item: string): KubeletSettings["reservedMemory"][number] | undefined {
  const match = /^(\d+):(.+)$/.exec(item.trim());
  const pairs = match === null ? [] : listed(match[2]!).map((part) => pairOf(part, /=/));
  if (match === null || pairs.includes(undefined)) return undefined;
  return { numaNode: Number(match[1]), limits: Object.fromEntries(pairs as [string, string][]) };
}

function fail(error: Error): never {
  throw error;
}
