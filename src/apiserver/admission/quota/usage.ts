/** What an object takes from quotas (documentation page "Resource Quotas"). One evaluator for each resource that counts more than itself. */
import type { Container, PersistentVolumeClaim, Pod, PodSpec, Service } from "../../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { qualifiedResource } from "../../../apimachinery/object.ts";
import { addQuantities, parseQuantity, quantityOf } from "../../../apimachinery/quantity.ts";
import { amountsOf, podAmounts } from "../pods/pod-resources.ts";
import type { Amounts } from "../pods/pod-resources.ts";

export interface Evaluator {
  /** Whether a create (or an update) of the object is charged at all. */
  handles(operation: string, subresource: string): boolean;
  /** Whether it fills the quota resource of this name. */
  matches(name: string): boolean;
  usage(object: KubeObject): Amounts;
  /** What the object must say for these quota resources, but does not. */
  faults?(names: readonly string[], object: KubeObject): string | undefined;
}

/** Resources that are never counted: events, and reviews that are not stored anyway. */
const ignored = new Set(["/events", "events.k8s.io/events"]);

export function evaluatorFor(group: string, resource: string): Evaluator | undefined {
  const name = `${group}/${resource}`;
  if (ignored.has(name)) return undefined;
  return Object.hasOwn(special, name) ? special[name] : counting(group, resource);
}

const one = quantityOf(1, "decimalSI");
const count = (amount: number) => quantityOf(amount, "decimalSI");

/** Old names of counts, from before `count/…`. */
const aliases = new Set(["/configmaps", "/secrets", "/resourcequotas", "/replicationcontrollers"]);

function counting(group: string, resource: string): Evaluator {
  const names = [`count/${qualifiedResource(resource, group)}`, ...(aliases.has(`${group}/${resource}`) ? [resource] : [])];
  return {
    handles: (operation, subresource) => operation === "CREATE" && subresource === "",
    matches: (name) => names.includes(name),
    usage: () => new Map(names.map((name) => [name, one])),
  };
}

const services: Evaluator = {
  handles: (_, subresource) => subresource === "",
  matches: (name) => ["count/services", "services", "services.nodeports", "services.loadbalancers"].includes(name),
  usage(object) {
    const { type, ports = [], allocateLoadBalancerNodePorts } = (object as unknown as Service).spec ?? {};
    const isBalanced = type === "LoadBalancer";
    let nodePorts = 0;
    if (type === "NodePort" || (isBalanced && allocateLoadBalancerNodePorts !== false)) nodePorts = ports.length;
    else if (isBalanced) nodePorts = ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0).length;
    return new Map([
      ["count/services", one],
      ["services", one],
      ["services.nodeports", count(nodePorts)],
      ["services.loadbalancers", count(isBalanced ? 1 : 0)],
    ]);
  },
};

const storageClassSuffix = ".storageclass.storage.k8s.io/";
const attributesClassSuffix = ".volumeattributesclass.storage.k8s.io/";

const claims: Evaluator = {
  handles: (_, subresource) => subresource === "",
  matches: (name) =>
    ["count/persistentvolumeclaims", "persistentvolumeclaims", "requests.storage"].includes(name) ||
    name.includes(storageClassSuffix) ||
    name.includes(attributesClassSuffix),
  usage(object) {
    const claim = object as unknown as PersistentVolumeClaim;
    const usage: Amounts = new Map([
      ["count/persistentvolumeclaims", one],
      ["persistentvolumeclaims", one],
    ]);
    const storage = claim.spec?.resources?.requests?.["storage"];
    const classes = [
      [claim.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? claim.spec?.storageClassName ?? "", storageClassSuffix],
      [claim.spec?.volumeAttributesClassName ?? "", attributesClassSuffix],
    ]
      .filter(([name]) => name !== "")
      .map(([name, suffix]) => `${name}${suffix}`);
    for (const prefix of classes) usage.set(`${prefix}persistentvolumeclaims`, one);
    if (storage === undefined) return usage;
    const size = parseQuantity(String(storage));
    for (const prefix of ["", ...classes]) usage.set(`${prefix}requests.storage`, size);
    return usage;
  },
};

const deviceSuffix = ".deviceclass.resource.k8s.io/devices";
/** Devices that a claim for all of them may get at most. */
const allDevices = 32;

const resourceClaims: Evaluator = {
  handles: (_, subresource) => subresource === "",
  matches: (name) => name === "count/resourceclaims.resource.k8s.io" || name.endsWith(deviceSuffix),
  usage(object) {
    const usage: Amounts = new Map([["count/resourceclaims.resource.k8s.io", one]]);
    for (const { exactly, firstAvailable = [] } of (object as unknown as ResourceClaim).spec?.devices?.requests ?? []) {
      const wanted = exactly === undefined ? firstAvailable : [exactly];
      const byClass = new Map<string, number>();
      for (const { deviceClassName, allocationMode, count: asked = 1 } of wanted)
        byClass.set(deviceClassName, Math.max(byClass.get(deviceClassName) ?? 0, allocationMode === "All" ? allDevices : asked));
      for (const [name, devices] of byClass) usage.set(name + deviceSuffix, addQuantities(usage.get(name + deviceSuffix) ?? count(0), count(devices)));
    }
    return usage;
  },
};

const computeNames = new Set(["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);
const podNames = new Set(["count/pods", "pods", "ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage", ...computeNames]);

const pods: Evaluator = {
  handles: (operation, subresource) => (operation === "CREATE" ? subresource === "" : subresource === "resize"),
  matches: (name) =>
    podNames.has(name) ||
    name.startsWith("hugepages-") ||
    name.startsWith("requests.hugepages-") ||
    (name.startsWith("requests.") && name.includes("/") && !name.endsWith("/requests.storage")),
  usage(object) {
    const { spec = {}, status } = object as unknown as Pod;
    const usage: Amounts = new Map([["count/pods", one]]);
    if (status?.phase === "Succeeded" || status?.phase === "Failed") return usage;
    usage.set("pods", one);
    addCompute(usage, podAmounts(spec, "requests", { withOverhead: true }), podAmounts(spec, "limits", { withOverhead: true }));
    return usage;
  },
  faults(names, object) {
    const spec = (object as unknown as Pod).spec ?? {};
    const wanted = names.filter((name) => computeNames.has(name));
    const missing = new Map<string, string[]>();
    for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      for (const name of missingIn(container, spec, wanted)) missing.set(name, [...(missing.get(name) ?? []), container.name]);
    }
    if (missing.size === 0) return undefined;
    return `must specify ${[...missing.keys()]
      .sort()
      .map((name) => `${name} for: ${[...new Set(missing.get(name))].sort().join(",")}`)
      .join("; ")}`;
  },
};

const special: Readonly<Record<string, Evaluator>> = {
  "/pods": pods,
  "/services": services,
  "/persistentvolumeclaims": claims,
  "resource.k8s.io/resourceclaims": resourceClaims,
};

function missingIn(container: Container, spec: PodSpec, wanted: readonly string[]): string[] {
  const stated: Amounts = new Map();
  for (const resources of [spec.resources, container.resources]) addCompute(stated, amountsOf(resources, "requests"), amountsOf(resources, "limits"));
  return wanted.filter((name) => !stated.has(name));
}

function addCompute(usage: Amounts, requests: Amounts, limits: Amounts): void {
  for (const [name, quantity] of requests) {
    if (name === "cpu" || name === "memory" || name === "ephemeral-storage" || name.startsWith("hugepages-"))
      usage.set(name, quantity).set(`requests.${name}`, quantity);
    else if (name.includes("/") && !name.includes("kubernetes.io/")) usage.set(`requests.${name}`, quantity);
  }
  for (const name of ["cpu", "memory", "ephemeral-storage"]) {
    const limit = limits.get(name);
    if (limit !== undefined) usage.set(`limits.${name}`, limit);
  }
}
