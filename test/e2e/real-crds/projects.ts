/** Projects whose Go modules ship CustomResourceDefinitions, with samples that have to be accepted and faults that have to be refused. */
import type { KubeObject } from "../../../src/client/index.ts";
import type { JsonObject } from "../../../src/apimachinery/json.ts";

export interface Project {
  /** MODULE@VERSION of the Go proxy. */
  readonly module: string;
  /** Globs of files in the module. */
  readonly crds: readonly string[];
  /** Globs of files in the module that hold samples, among other objects. */
  readonly samples?: readonly string[];
  /** Leaves out what the project ships as a template or example of something else. */
  readonly isSample?: (object: KubeObject) => boolean;
  readonly own: readonly KubeObject[];
  readonly faults: readonly Fault[];
}

/** A sound object of the kind `of` with a merge patch over it; the refusal names `field` and says `message`. */
export interface Fault {
  readonly of: string;
  readonly patch: JsonObject;
  readonly field: string;
  readonly message: RegExp;
}

export const projects: readonly Project[] = [
  {
    module: "github.com/cert-manager/cert-manager@v1.21.2",
    crds: ["deploy/crds/*_*.yaml"],
    own: [
      object("cert-manager.io/v1", "Certificate", {
        secretName: "web-tls",
        dnsNames: ["example.com"],
        issuerRef: { name: "ca" },
        privateKey: { algorithm: "ECDSA", size: 256 },
      }),
      object("cert-manager.io/v1", "Issuer", { selfSigned: {} }),
    ],
    faults: [
      { of: "Certificate", patch: { spec: { secretName: null } }, field: "spec.secretName", message: /^Required value/ },
      {
        of: "Certificate",
        patch: { spec: { privateKey: { algorithm: "DSA" } } },
        field: "spec.privateKey.algorithm",
        message: /^Unsupported value: "DSA": supported values: "RSA", "ECDSA", "Ed25519"$/,
      },
    ],
  },
  {
    module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    crds: ["example/prometheus-operator-crd/*.yaml"],
    samples: ["example/user-guides/{alerting,getting-started}/*.yaml"],
    own: [object("monitoring.coreos.com/v1", "PrometheusRule", { groups: [{ name: "g", rules: [{ alert: "Down", expr: "up == 0", for: "5m" }] }] })],
    faults: [
      {
        of: "PrometheusRule",
        patch: { spec: { groups: [{ name: "g", rules: [{ alert: "Down" }] }] } },
        field: "spec.groups[0].rules[0].expr",
        message: /^Required value/,
      },
      { of: "PrometheusRule", patch: { spec: { groups: [{ name: "g" }, { name: "g" }] } }, field: "spec.groups[1]", message: /^Duplicate value/ },
    ],
  },
  {
    module: "sigs.k8s.io/gateway-api@v1.4.0",
    crds: ["config/crd/experimental/*_*.yaml"],
    samples: ["examples/standard/**/*.yaml"],
    own: [],
    faults: [
      {
        of: "Gateway",
        patch: {
          spec: {
            listeners: [
              { name: "a", protocol: "HTTP", port: 80 },
              { name: "b", protocol: "HTTP", port: 80 },
            ],
          },
        },
        field: "spec.listeners",
        message: /Combination of port, protocol and hostname must be unique for each listener$/,
      },
      {
        of: "Gateway",
        patch: { spec: { infrastructure: { labels: { "a/b/c": "x" } } } },
        field: "spec.infrastructure.labels",
        message: /Label keys must be in the form of an optional DNS subdomain prefix/,
      },
      {
        of: "HTTPRoute",
        patch: { spec: { rules: [{ matches: [{ path: { type: "Nearly", value: "/" } }] }] } },
        field: "spec.rules[0].matches[0].path.type",
        message: /^Unsupported value: "Nearly"/,
      },
    ],
  },
  {
    module: "github.com/argoproj/argo-cd/v2@v2.14.21",
    crds: ["manifests/crds/*-crd.yaml"],
    samples: ["docs/operator-manual/{project,application}.yaml"],
    own: [],
    faults: [
      { of: "Application", patch: { spec: { project: null } }, field: "spec.project", message: /^Required value/ },
      { of: "AppProject", patch: { spec: { roles: [{ description: "nameless" }] } }, field: "spec.roles[0].name", message: /^Required value/ },
    ],
  },
  {
    module: "github.com/fluxcd/source-controller@v1.7.0",
    crds: ["config/crd/bases/*.yaml"],
    samples: ["config/samples/*.yaml"],
    own: [],
    faults: [
      { of: "GitRepository", patch: { spec: { url: "ftp://example.com" } }, field: "spec.url", message: /should match '\^\(http\|https\|ssh\):\/\/\.\*\$'$/ },
      { of: "GitRepository", patch: { spec: { interval: null } }, field: "spec.interval", message: /^Required value/ },
    ],
  },
  {
    module: "knative.dev/serving@v0.51.0",
    crds: ["config/core/300-resources/*.yaml"],
    own: [
      object("serving.knative.dev/v1", "Service", {
        template: { spec: { containers: [{ image: "ghcr.io/example/hello", env: [{ name: "TARGET", value: "World" }] }] } },
      }),
      object("serving.knative.dev/v1beta1", "DomainMapping", { ref: { apiVersion: "serving.knative.dev/v1", kind: "Service", name: "hello" } }),
    ],
    faults: [
      { of: "DomainMapping", patch: { spec: { ref: { name: null } } }, field: "spec.ref.name", message: /^Required value/ },
      {
        of: "Service",
        patch: { spec: { template: { spec: { containers: "one" } } } },
        field: "spec.template.spec.containers",
        message: /must be of type array: "string"$/,
      },
    ],
  },
  {
    module: "istio.io/api@v1.32.0",
    crds: ["kubernetes/customresourcedefinitions.gen.yaml"],
    own: [
      object("security.istio.io/v1", "PeerAuthentication", {
        selector: { matchLabels: { app: "web" } },
        mtls: { mode: "STRICT" },
        portLevelMtls: { 8080: { mode: "DISABLE" } },
      }),
      object("networking.istio.io/v1", "VirtualService", { hosts: ["web"], http: [{ route: [{ destination: { host: "web", subset: "v1" } }] }] }),
    ],
    faults: [
      { of: "PeerAuthentication", patch: { spec: { mtls: { mode: "LAX" } } }, field: "spec.mtls.mode", message: /^Unsupported value: "LAX"/ },
      { of: "PeerAuthentication", patch: { spec: { selector: null } }, field: "spec", message: /portLevelMtls requires selector$/ },
      {
        of: "PeerAuthentication",
        patch: { spec: { selector: { matchLabels: { "a*": "b" } } } },
        field: "spec.selector.matchLabels",
        message: /wildcard not allowed in label key match$/,
      },
    ],
  },
  {
    module: "sigs.k8s.io/cluster-api@v1.14.2",
    crds: ["core/config/crd/bases/*.yaml", "{bootstrap,controlplane}/kubeadm/config/crd/bases/*.yaml"],
    own: [
      object("cluster.x-k8s.io/v1beta2", "MachineDrainRule", { drain: { behavior: "Drain", order: 5 }, pods: [{ selector: { matchLabels: { app: "web" } } }] }),
    ],
    faults: [
      { of: "MachineDrainRule", patch: { spec: { drain: { behavior: "Flood" } } }, field: "spec.drain.behavior", message: /^Unsupported value: "Flood"/ },
      {
        of: "MachineDrainRule",
        patch: { spec: { pods: [{ selector: { matchLabels: { a: "b" } } }, { selector: { matchLabels: { a: "b" } } }] } },
        field: "spec.pods",
        message: /entries in pods must be unique$/,
      },
    ],
  },
  {
    module: "sigs.k8s.io/kueue@v0.17.0",
    crds: ["config/components/crd/bases/*.yaml"],
    own: [
      object("kueue.x-k8s.io/v1beta2", "ClusterQueue", {
        namespaceSelector: {},
        resourceGroups: [{ coveredResources: ["cpu"], flavors: [{ name: "default", resources: [{ name: "cpu", nominalQuota: 9 }] }] }],
      }),
      object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", { nodeLabels: { "instance-type": "spot" } }),
    ],
    faults: [
      {
        of: "ClusterQueue",
        patch: {
          spec: { resourceGroups: [{ coveredResources: ["cpu", "memory"], flavors: [{ name: "default", resources: [{ name: "cpu", nominalQuota: 9 }] }] }] },
        },
        field: "spec.resourceGroups[0]",
        message: /flavors must have the same number of resources as the coveredResources$/,
      },
      {
        of: "ClusterQueue",
        patch: { spec: { preemption: { reclaimWithinCohort: "Never", borrowWithinCohort: { policy: "LowerPriority" } } } },
        field: "spec.preemption",
        message: /reclaimWithinCohort=Never and borrowWithinCohort\.Policy!=Never$/,
      },
    ],
  },
  {
    module: "github.com/kedacore/keda/v2@v2.21.0",
    crds: ["config/crd/bases/*.yaml"],
    samples: ["config/samples/*.yaml"],
    // Its ScaledJob has a comment where the template of pods would stand.
    isSample: ({ kind }) => kind !== "ScaledJob",
    own: [],
    faults: [
      {
        of: "ScaledObject",
        patch: { spec: { minReplicaCount: 9, maxReplicaCount: 3 } },
        field: "spec",
        message: /minReplicaCount must be less than or equal to maxReplicaCount$/,
      },
      { of: "ScaledObject", patch: { spec: { triggers: null } }, field: "spec.triggers", message: /^Required value/ },
    ],
  },
  {
    module: "github.com/external-secrets/external-secrets@v1.3.2",
    crds: ["config/crds/bases/*_*.yaml"],
    own: [
      object("external-secrets.io/v1", "ExternalSecret", {
        secretStoreRef: { name: "vault", kind: "SecretStore" },
        target: { name: "db" },
        data: [{ secretKey: "password", remoteRef: { key: "db", property: "password" } }],
      }),
    ],
    faults: [
      {
        of: "ExternalSecret",
        patch: { spec: { data: [{ secretKey: "password", remoteRef: {} }] } },
        field: "spec.data[0].remoteRef.key",
        message: /^Required value/,
      },
      {
        of: "ExternalSecret",
        patch: { spec: { secretStoreRef: { kind: "Vault" } } },
        field: "spec.secretStoreRef.kind",
        message: /^Unsupported value: "Vault"/,
      },
    ],
  },
];

function object(apiVersion: string, kind: string, spec: JsonObject): KubeObject {
  return { apiVersion, kind, metadata: { name: "sample" }, spec } as KubeObject;
}
