import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import { deepCopy } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { KindStrategy, RuleContext } from "../strategy.ts";
import { configMaps } from "./config-maps.ts";
import { endpoints } from "./endpoints.ts";
import { limitRanges } from "./limit-ranges.ts";
import { namespaces } from "./namespaces.ts";
import { nodes } from "./nodes.ts";
import { persistentVolumeClaims } from "./persistent-volume-claims.ts";
import { persistentVolumes } from "./persistent-volumes.ts";
import { replicationControllers } from "./replication-controllers.ts";
import { resourceQuotas } from "./resource-quotas.ts";
import { secrets } from "./secrets.ts";
import { services } from "./service/strategy.ts";

const context = {
  nowMs: 0,
  isEnabled: () => false,
  newUid: () => "11111111-2222-4333-8444-555555555555",
  settings: { allowPrivileged: true, serviceCidrs: ["10.0.0.0/16"], nodePortRange: { first: 30000, last: 32767 } },
} as unknown as RuleContext;

type Members = Readonly<Record<string, unknown>>;

function made<T extends KubeObject>(strategy: KindStrategy<T>, members: Members): T {
  const object = { metadata: { name: "x", namespace: "ns" }, ...deepCopy(members) } as unknown as T;
  strategy.defaults?.(object, 0);
  strategy.create.prepare?.(object, context);
  return object;
}

const creation = <T extends KubeObject>(strategy: KindStrategy<T>, members: Members) =>
  (strategy.create.validate?.(made(strategy, members), context) ?? []).map(fieldErrorText);

function change<T extends KubeObject>(strategy: KindStrategy<T>, members: Members, changed: Members): { object: T; faults: string[] } {
  const old = made(strategy, members);
  const object = { ...deepCopy(old), ...deepCopy(changed) };
  strategy.defaults?.(object, 0);
  strategy.update.prepare?.(object, old, context);
  return { object, faults: (strategy.update.validate?.(object, old, context) ?? []).map((error) => fieldErrorText(error).split("\n")[0]!) };
}

const port = { port: 80 };

test("services that cannot be", () => {
  const table: [spec: Members, faults: string[]][] = [
    [{ ports: [port] }, []],
    [{}, ["spec.ports: Required value"]],
    [{ ports: [port, { port: 81 }] }, ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"]],
    [
      {
        ports: [
          { name: "a", ...port },
          { name: "b", ...port },
        ],
      },
      ['spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}'],
    ],
    [{ type: "ExternalName" }, ["spec.externalName: Required value"]],
    [{ ports: [port], clusterIP: "none" }, ['spec.clusterIPs[0]: Invalid value: "none": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    [{ ports: [port], clusterIP: "None", type: "NodePort" }, ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"]],
    [{ ports: [port], clusterIP: "::1" }, ['spec.clusterIPs[0]: Invalid value: ["::1"]: IPv6 is not configured on this cluster']],
    [
      { ports: [port], ipFamilies: ["IPv4", "IPv6"] },
      ["spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"],
    ],
    [
      { ports: [port], ipFamilyPolicy: "RequireDualStack" },
      ['spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'],
    ],
    [
      { ports: [port], externalTrafficPolicy: "Local" },
      ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ],
    [{ ports: [port], loadBalancerSourceRanges: ["1.2.3.0/24"] }, ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"]],
    [
      { ports: [port], sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      ["spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400"],
    ],
  ];
  for (const [spec, faults] of table) assert.deepEqual(creation(services, { spec }), faults, JSON.stringify(spec));
});

test("defaults and families of services", () => {
  const plain = made(services, { spec: { ports: [port] } }).spec!;
  assert.deepEqual(
    [plain.type, plain.sessionAffinity, plain.ipFamilies, plain.ipFamilyPolicy, plain.ports],
    ["ClusterIP", "None", ["IPv4"], "SingleStack", [{ port: 80, protocol: "TCP", targetPort: 80 }]],
  );
  const headless = made(services, { spec: { clusterIP: "None" } }).spec!;
  assert.deepEqual([headless.clusterIPs, headless.ipFamilies, headless.ipFamilyPolicy], [["None"], ["IPv4", "IPv6"], "RequireDualStack"]);
});

test("services that change", () => {
  const spec = { ports: [{ ...port, nodePort: 30001 }], type: "NodePort", clusterIP: "10.0.0.5" };
  const to = (changed: Members) => change(services, { spec }, { spec: changed });
  assert.deepEqual(to({ ports: [port], type: "NodePort" }).object.spec?.ports?.[0]?.nodePort, 30001);
  assert.deepEqual(to({ ports: [port] }).object.spec?.clusterIPs, ["10.0.0.5"]);
  assert.deepEqual(to({ ports: [port], clusterIP: "10.0.0.6" }).faults, ['spec.clusterIPs[0]: Invalid value: ["10.0.0.6"]: may not change once set']);
  const external = to({ ...spec, clusterIPs: ["10.0.0.5"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack", type: "ExternalName", externalName: "e.com" });
  assert.deepEqual([external.faults, external.object.spec?.clusterIP, external.object.spec?.ports?.[0]?.nodePort], [[], undefined, undefined]);
});

test("configuration", () => {
  assert.deepEqual(creation(configMaps, { data: { "..": "v", k: "v" }, binaryData: { k: "" } }), [
    "data[..]: Invalid value: \"..\": must not be '..'",
    'data[k]: Invalid value: "k": duplicate of key present in binaryData',
  ]);
  assert.deepEqual(creation(configMaps, { data: { k: "v".repeat(1024 * 1024 + 1) } }), ["[]: Too long: may not be more than 1048576 bytes"]);
  assert.deepEqual(change(configMaps, { immutable: true, data: { k: "v" } }, { data: { k: "w" } }).faults, [
    "data: Forbidden: field is immutable when `immutable` is set",
  ]);
  assert.deepEqual(made(secrets, { stringData: { k: "v" } }).data, { k: "dg==" });
  assert.deepEqual(creation(secrets, { type: "kubernetes.io/tls" }), ["data[tls.crt]: Required value", "data[tls.key]: Required value"]);
  assert.deepEqual(creation(secrets, { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "bm90IGpzb24=" } }), [
    "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid character 'o' in literal null (expecting 'u')",
  ]);
  assert.deepEqual(secrets.create.warnings!({ metadata: {}, type: "kubernetes.io/tls", data: { "tls.crt": "dg==", "tls.key": "dg==" } }, context), [
    "tls: failed to find any PEM data in certificate input",
  ]);
});

test("namespaces and nodes", () => {
  const namespace = made(namespaces, { spec: { finalizers: ["e.com/f"] } });
  assert.deepEqual(
    [namespace.spec?.finalizers, namespace.status, namespace.metadata.labels],
    [["e.com/f", "kubernetes"], { phase: "Active" }, { "kubernetes.io/metadata.name": "x" }],
  );
  assert.deepEqual(creation(nodes, { spec: { podCIDRs: ["10.1.0.0/24", "10.2.0.0/24"] } }), [
    'spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR for each IP family',
  ]);
  assert.deepEqual(creation(nodes, { spec: { taints: [{ key: "k" }] } }), ["metadata.taints[0].effect: Required value"]);
  assert.deepEqual(made(nodes, { status: { capacity: { cpu: "1" } } }).status?.allocatable, { cpu: "1" });
  assert.deepEqual(change(nodes, { spec: { providerID: "p" } }, { spec: { providerID: "q" } }).faults, [
    "spec.providerID: Invalid value: null: field cannot be modified once set",
  ]);
});

test("endpoints", () => {
  const subset = (members: Members) => creation(endpoints, { subsets: [members] });
  assert.deepEqual(subset({ ports: [{ port: 1 }] }), ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]);
  assert.deepEqual(subset({ addresses: [{ ip: "127.0.0.1" }], ports: [{ port: 1 }] }), [
    'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ]);
});

test("volumes and claims", () => {
  const volume = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } };
  assert.deepEqual(creation(persistentVolumes, { spec: { ...volume, hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" } }), [
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  ]);
  assert.deepEqual(creation(persistentVolumes, { spec: { ...volume, capacity: { cpu: "1" } } }), [
    'spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"',
    "spec: Required value: must specify a volume type",
  ]);
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  assert.deepEqual(creation(persistentVolumeClaims, { spec: { ...claim, accessModes: ["Bogus"] } }), [
    'spec.accessModes: Unsupported value: "Bogus": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
  ]);
  const source = { kind: "PersistentVolumeClaim", name: "p" };
  assert.deepEqual(made(persistentVolumeClaims, { spec: { ...claim, dataSource: source } }).spec?.dataSourceRef, source);
  assert.deepEqual(change(persistentVolumeClaims, { spec: claim }, { spec: { ...claim, storageClassName: "late" } }).faults, []);
  // The class of attributes of a bound claim may be taken away again (KEP-3751).
  const bound = { ...made(persistentVolumeClaims, { spec: { ...claim, volumeAttributesClassName: "gold" } }), status: { phase: "Bound" } };
  const { volumeAttributesClassName: _, ...spec } = bound.spec!;
  assert.deepEqual(persistentVolumeClaims.update.validate?.({ ...bound, spec }, bound, context), []);
  assert.deepEqual(change(persistentVolumeClaims, { spec: claim }, { spec: { ...claim, volumeName: "v", volumeMode: "Block" } }).faults, [
    "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    'volumeMode: Invalid value: "Block": field is immutable',
  ]);
});

test("limits, quotas and controllers", () => {
  const limits = (item: Members) => creation(limitRanges, { spec: { limits: [item] } });
  assert.deepEqual(made(limitRanges, { metadata: {}, spec: { limits: [{ type: "Container", max: { cpu: "2" } }] } }).spec?.limits, [
    { type: "Container", max: { cpu: "2" }, default: { cpu: "2" }, defaultRequest: { cpu: "2" } },
  ]);
  assert.equal(made(limitRanges, { metadata: {} }).metadata.name, context.newUid());
  assert.deepEqual(limits({ type: "Pod", defaultRequest: { cpu: "1" } }), [
    "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
  ]);
  assert.deepEqual(limits({ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "2" } }), [
    'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1',
  ]);
  assert.deepEqual(creation(resourceQuotas, { spec: { hard: { storage: "1", pods: "1500m" } } }), [
    'spec.hard[pods]: Invalid value: "1500m": must be an integer',
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
  ]);
  assert.deepEqual(creation(resourceQuotas, { spec: { hard: { cpu: "1" }, scopes: ["BestEffort"] } }), [
    'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
  ]);
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  assert.deepEqual(made(replicationControllers, { spec: { template } }).spec?.selector, { a: "b" });
  assert.deepEqual(creation(replicationControllers, { spec: { replicas: -1, selector: { a: "c" }, template } }), [
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
  ]);
});
