import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import type { RuleContext } from "../../strategy.ts";
import type { Container, Pod, PodSpec, PodTemplateSpec, Volume } from "../types.ts";
import { applyPodSpecDefaults } from "./defaults.ts";
import { defaultPullPolicy } from "./image-name.ts";
import { qosClassOf } from "./qos.ts";
import { pods } from "./strategy.ts";
import { validatePodTemplateSpec } from "./template.ts";
import { podTemplateWarnings } from "./warnings.ts";

const gatesOff = new Set(["ContainerStopSignals", "UserNamespacesHostNetworkSupport", "TaintTolerationComparisonOperators"]);
const context = {
  nowMs: 0,
  isEnabled: (gate: string) => !gatesOff.has(gate),
  settings: { allowPrivileged: true, serviceCidrs: [], nodePortRange: { first: 30000, last: 32767 } },
} as unknown as RuleContext;

function newPod(spec: Partial<PodSpec> = {}, container: Partial<Container> = {}): Pod {
  const pod: Pod = {
    metadata: { name: "x", namespace: "n" },
    spec: { serviceAccountName: "default", containers: [{ name: "c", image: "i", ...container }], ...spec },
  };
  pods.defaults!(pod, 0);
  pods.create.prepare!(pod, context);
  return pod;
}

const faultsOf = (spec: Partial<PodSpec>, container: Partial<Container> = {}) => pods.create.validate!(newPod(spec, container), context).map(fieldErrorText);
const c = "spec.containers[0]";

test("faults of containers", () => {
  const table: [container: Partial<Container>, faults: string[]][] = [
    [{}, []],
    [{ name: "a.b" }, [`${c}.name: Invalid value: "a.b": must not contain dots`]],
    [{ image: "" }, [`${c}.image: Required value`]],
    [{ image: " i" }, [`${c}.image: Invalid value: " i": must not have leading or trailing whitespace`]],
    [{ imagePullPolicy: "x" }, [`${c}.imagePullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"`]],
    [
      { restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }] },
      [`${c}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`],
    ],
    [
      { env: [{ name: "a=b" }] },
      [`${c}.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`],
    ],
    [
      { env: [{ name: "A", value: "v", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] },
      [`${c}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`],
    ],
    [
      { env: [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "k" } } }] },
      [`${c}.env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"`],
    ],
    [
      { ports: [{ containerPort: 0 }, { containerPort: 1, hostPort: 9 }, { containerPort: 2, hostPort: 9 }] },
      [`${c}.ports[0].containerPort: Required value`, `${c}.ports[2].hostPort: Duplicate value: "TCP//9"`],
    ],
    [{ livenessProbe: { exec: { command: ["x"] }, successThreshold: 2 } }, [`${c}.livenessProbe.successThreshold: Invalid value: 2: must be 1`]],
    [{ readinessProbe: {} }, [`${c}.readinessProbe: Required value: must specify a handler type`]],
    [
      { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
      [`${c}.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`],
    ],
    [
      { volumeMounts: [{ name: "v", mountPath: "/m", subPath: "../a" }] },
      [`${c}.volumeMounts[0].name: Not found: "v"`, `${c}.volumeMounts.subPath: Invalid value: "../a": must not contain '..'`],
    ],
    [
      { resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } },
      [`${c}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
    ],
    [{ resources: { requests: { "example.com/x": "1" } } }, [`${c}.resources.limits: Required value: Limit must be set for non overcommitable resources`]],
    [{ resources: { limits: { "hugepages-2Mi": "2Mi" } } }, [`${c}.resources: Forbidden: HugePages require cpu or memory`]],
    [
      { resources: { claims: [{ name: "x" }] } },
      [`${c}.resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty`],
    ],
    [{ securityContext: { runAsUser: -1 } }, [`${c}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`]],
    [
      { securityContext: { procMount: "Unmasked" } },
      [`${c}.securityContext.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``],
    ],
    [
      { securityContext: { seccompProfile: { type: "Localhost" } } },
      [`${c}.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`],
    ],
  ];
  for (const [container, faults] of table) assert.deepEqual(faultsOf({}, container), faults, JSON.stringify(container));
});

test("faults of the pod as a whole", () => {
  const table: [spec: Partial<PodSpec>, faults: string[]][] = [
    [{ containers: [] }, ["spec.containers: Required value"]],
    [{ initContainers: [{ name: "c", image: "i" }] }, ['spec.initContainers[0].name: Duplicate value: "c"']],
    [
      { initContainers: [{ name: "i", image: "i", lifecycle: {} }] },
      ["spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always"],
    ],
    [{ ephemeralContainers: [{ name: "e", image: "i" }] }, ["spec.ephemeralContainers: Forbidden: cannot be set on create"]],
    [
      { resources: { requests: { cpu: "10m" }, limits: { cpu: "1" } }, containers: [{ name: "c", image: "i", resources: { requests: { cpu: "100m" } } }] },
      ['spec.resources.requests[cpu]: Invalid value: "10m": must be greater than or equal to aggregate container requests of 100m'],
    ],
    [{ restartPolicy: "x" }, ['spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"']],
    [{ dnsPolicy: "None" }, ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"]],
    [{ hostAliases: [{ ip: "01.1.1.1" }] }, ['spec.hostAliases[0].ip: Invalid value: "01.1.1.1": must not have leading 0s']],
    [
      { tolerations: [{ key: "k", operator: "Exists", value: "v" }] },
      ["spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'"],
    ],
    [
      { tolerations: [{ key: "k", operator: "Gt", value: "5" }] },
      ['spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'],
    ],
    [
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "ScheduleAnyway", minDomains: 2, labelSelector: {} }] },
      ["spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"],
    ],
    [{ schedulingGates: [{ name: "g" }], nodeName: "n" }, ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"]],
    [{ hostUsers: false, hostPID: true }, ["spec.HostPID: Forbidden: when `hostUsers` is false"]],
    [{ hostnameOverride: "h", setHostnameAsFQDN: true }, ["spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true"]],
    [{ activeDeadlineSeconds: 0 }, ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"]],
    [{ os: { name: "plan9" } }, ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"']],
    [{ os: { name: "windows" }, hostPID: true }, ["spec.hostPID: Forbidden: cannot be set for a windows pod"]],
    [
      { resourceClaims: [{ name: "x" }] },
      [
        'spec.resourceClaims[0]: Invalid value: {"Name":"x","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ],
    ],
  ];
  for (const [spec, faults] of table) assert.deepEqual(faultsOf(spec), faults, JSON.stringify(spec));
});

test("faults of volumes", () => {
  const v = "spec.volumes[0]";
  const table: [volume: Partial<Volume>, faults: string[]][] = [
    [{}, []],
    [{ emptyDir: {}, hostPath: { path: "/x" } }, [`${v}.hostPath: Forbidden: may not specify more than 1 volume type`]],
    [{ secret: { secretName: "s", items: [{ key: "k", path: "..a" }] } }, [`${v}.secret.items[0].path: Invalid value: "..a": must not start with '..'`]],
    [
      { configMap: { name: "m", defaultMode: 512 } },
      [`${v}.configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`],
    ],
    [{ gcePersistentDisk: { pdName: "" } }, [`${v}.persistentDisk.pdName: Required value`]],
    [
      { projected: { sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 599 } }] } },
      [`${v}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`],
    ],
    [
      { projected: { sources: [{ clusterTrustBundle: { path: "p" } }] } },
      [`${v}.projected.sources[0].clusterTrustBundle: Required value: either name or signerName must be specified`],
    ],
    [
      { downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "spec.nodeName" } }] } },
      [
        `${v}.downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"`,
      ],
    ],
    [{ ephemeral: {} }, [`${v}.ephemeral.volumeClaimTemplate: Required value`]],
    [{ csi: { driver: "d.example.com", nodePublishSecretRef: {} } }, [`${v}.csi.nodePublishSecretRef.name: Required value`]],
    [{ iscsi: { targetPortal: "p", iqn: "bad", lun: 0 } }, [`${v}.iscsi.iqn: Invalid value: "bad": must be valid format starting with iqn, eui, or naa`]],
  ];
  for (const [volume, faults] of table) assert.deepEqual(faultsOf({ volumes: [{ name: "v", ...volume }] }), faults, JSON.stringify(volume));
});

test("defaults", () => {
  const { spec, status } = newPod(
    { hostNetwork: true, volumes: [{ name: "v" }, { name: "s", secret: { secretName: "s" } }] },
    { ports: [{ containerPort: 80 }], resources: { limits: { cpu: "0.0005" } }, startupProbe: { httpGet: { port: 80 } } },
  );
  const [container] = spec!.containers!;
  assert.deepEqual(container!.ports, [{ containerPort: 80, protocol: "TCP", hostPort: 80 }]);
  assert.deepEqual(container!.resources, { limits: { cpu: "1m" }, requests: { cpu: "1m" } });
  assert.deepEqual(container!.startupProbe, {
    httpGet: { port: 80, path: "/", scheme: "HTTP" },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  assert.deepEqual(spec!.volumes, [
    { name: "v", emptyDir: {} },
    { name: "s", secret: { secretName: "s", defaultMode: 420 } },
  ]);
  assert.deepEqual(
    [spec!.enableServiceLinks, spec!.serviceAccount, spec!.dnsPolicy, status],
    [true, "default", "ClusterFirst", { phase: "Pending", qosClass: "Burstable" }],
  );
});

test("pod-level resources follow the containers", () => {
  const container = { resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } } };
  assert.deepEqual(newPod({ resources: { requests: { cpu: "1" } } }, deepCopy(container)).spec!.resources, { requests: { cpu: "1" }, limits: { cpu: "1" } });
  assert.deepEqual(newPod({ resources: { limits: { cpu: "1" } } }, deepCopy(container)).spec!.resources, { requests: { cpu: "100m" }, limits: { cpu: "1" } });
  assert.deepEqual(newPod({ resources: {} }, container).spec!.resources, {});
});

test("pull policies", () => {
  const table = {
    i: "Always",
    "i:latest": "Always",
    "h:5000/i": "Always",
    "i:1": "IfNotPresent",
    "i@sha256:bad": "IfNotPresent",
    "UPPER/Case:Tag": "IfNotPresent",
    "": "IfNotPresent",
  };
  for (const [image, policy] of Object.entries(table)) assert.equal(defaultPullPolicy(image), policy, image);
});

test("quality of service", () => {
  const both = { cpu: "1", memory: "1Gi" };
  assert.equal(qosClassOf({ containers: [{ name: "c" }] }), "BestEffort");
  assert.equal(qosClassOf({ containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] }), "Burstable");
  assert.equal(qosClassOf({ containers: [{ name: "c", resources: { requests: both, limits: both } }] }), "Guaranteed");
  assert.equal(qosClassOf({ containers: [{ name: "c" }], resources: { requests: both, limits: both } }), "Guaranteed");
});

test("changes of a pod", () => {
  const update = (change: (spec: PodSpec) => void, subresource?: "resize" | "ephemeralcontainers", start: Partial<PodSpec> = {}) => {
    const old = newPod(start, { resources: { requests: { cpu: "1" } } });
    const pod = deepCopy(old);
    change(pod.spec!);
    pods.defaults!(pod, 0);
    const rules = subresource === undefined ? pods.update : pods.subresources![subresource]!;
    rules.prepare!(pod, old, context);
    return rules.validate!(pod, old, context).map((error) => fieldErrorText(error).split("\n")[0]);
  };
  const forbidden = /^spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/;
  assert.deepEqual(
    update((spec) => void (spec.containers![0]!.image = "j")),
    [],
  );
  assert.deepEqual(
    update((spec) => void (spec.activeDeadlineSeconds = 5)),
    [],
  );
  assert.match(update((spec) => void (spec.nodeName = "n"))[0]!, forbidden);
  assert.deepEqual(
    update((spec) => void spec.containers!.push({ name: "d", image: "i" })),
    ["spec.containers: Forbidden: pod updates may not add or remove containers"],
  );
  assert.deepEqual(
    update((spec) => void (spec.schedulingGates = [{ name: "g" }])),
    ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'"],
  );
  assert.deepEqual(
    update((spec) => void (spec.tolerations = []), undefined, { tolerations: [{ key: "k", operator: "Exists" }] }),
    ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
  );
  assert.deepEqual(
    update((spec) => void (spec.nodeSelector = { a: "b", c: "d" }), undefined, { schedulingGates: [{ name: "g" }], nodeSelector: { a: "b" } }),
    [],
  );
  assert.deepEqual(
    update((spec) => void (spec.nodeSelector = { a: "z" }), undefined, { schedulingGates: [{ name: "g" }], nodeSelector: { a: "b" } }),
    ['spec.nodeSelector: Invalid value: {"a":"z"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)'],
  );
  assert.deepEqual(
    update((spec) => void (spec.containers![0]!.resources = { requests: { cpu: "2" } }), "resize"),
    [],
  );
  assert.deepEqual(
    update((spec) => void (spec.containers![0]!.resources = { requests: { memory: "1Gi" } }), "resize"),
    [`${c}.resources.requests: Forbidden: resource requests cannot be removed`],
  );
  assert.deepEqual(
    update((spec) => void (spec.ephemeralContainers = [{ name: "e", image: "i", ports: [{ containerPort: 1 }] }]), "ephemeralcontainers"),
    ["spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container"],
  );
});

test("templates name the way down, and are laxer than pods", () => {
  const template: PodTemplateSpec = {
    metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/c": "runtime/default" } },
    spec: { containers: [{ name: "c", image: " i" }], terminationGracePeriodSeconds: -1, nodeName: "N_" },
  };
  applyPodSpecDefaults(template.spec!);
  const path = FieldPath.root("spec", "template");
  assert.match(
    validatePodTemplateSpec(template, path, context).map(fieldErrorText).join(),
    /^spec\.template\.spec\.nodeName: Invalid value: "N_": a lowercase RFC 1123 subdomain/,
  );
  assert.deepEqual(podTemplateWarnings(template, path), [
    'spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead',
    "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
  ]);
});

test("warnings", () => {
  const pod = newPod(
    {
      nodeSelector: { "beta.kubernetes.io/os": "linux" },
      volumes: [
        {
          name: "v",
          secret: {
            secretName: "s",
            items: [
              { key: "a", path: "p" },
              { key: "b", path: "p/q" },
            ],
          },
        },
      ],
    },
    {
      env: [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ],
      ports: [{ containerPort: 80 }, { containerPort: 80 }],
      resources: { requests: { memory: "100m" } },
    },
  );
  pod.metadata.name = "a.b";
  assert.deepEqual(pods.create.warnings!(pod, context), [
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'volume "v" (Secret "s"): overlapping paths: "p/q" with "p"',
    `${c}.resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer`,
    `${c}.env[1]: hides previous definition of "A", which may be dropped when using apply`,
    `${c}.ports[1]: duplicate port definition with ${c}.ports[0]`,
  ]);
});

test("grace periods", () => {
  const grace = pods.delete!.gracePeriodSeconds!;
  assert.equal(grace(newPod(), undefined), 0);
  assert.equal(grace(newPod({ nodeName: "n" }), undefined), 30);
  assert.equal(grace(newPod({ nodeName: "n" }), 5), 5);
  assert.equal(grace({ ...newPod({ nodeName: "n" }), status: { phase: "Failed" } }, 5), 0);
});
