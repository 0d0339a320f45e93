import type { Random } from "../../../base/random.ts";
import type {
  Affinity,
  Node,
  NodeSelectorRequirement,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodAffinityTerm,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from "../../../api/core-v1/types.ts";
import type { PodDisruptionBudget } from "../../../api/policy-v1/types.ts";
import type { ResourceClaim, ResourceSlice } from "../../../api/resource-v1/types.ts";
import { driver } from "./devices.ts";
import { hostname, zone } from "./feasible.ts";

/** Random nodes and pods that use every part of the API that decides where a pod may go. */
export class Generator {
  readonly #random: Random;
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** True with probability 1 / `out`. */
  chance(out: number): boolean {
    return this.#random.integer(out) === 0;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.#random.integer(items.length)]!;
  }

  node(name = `node-${this.#names++}`): Node {
    const labels = {
      [hostname]: name,
      ...(!this.chance(8) && { [zone]: `zone-${this.#random.integer(4)}` }),
      ...(this.chance(2) && { rack: `rack-${this.#random.integer(6)}` }),
      ...(this.chance(2) && { size: String(this.#random.integer(10)) }),
    };
    const images = ["a:1", "b:1", "c:1"]
      .filter(() => this.chance(3))
      .map((image) => ({ names: [image], sizeBytes: (20 + this.#random.integer(900)) * 2 ** 20 }));
    const allocatable = {
      cpu: `${(1 + this.#random.integer(8)) * 500}m`,
      memory: `${(1 + this.#random.integer(8)) * 512}Mi`,
      pods: String(2 + this.#random.integer(12)),
      ...(this.chance(4) && { "example.com/widget": String(this.#random.integer(4)) }),
    };
    return { metadata: { name, labels }, spec: { taints: this.#taints(), ...(this.chance(20) && { unschedulable: true }) }, status: { allocatable, images } };
  }

  volume(): { volume: PersistentVolume; claim: PersistentVolumeClaim } {
    const name = `volume-${this.#names++}`;
    const place = `zone-${this.#random.integer(4)}`;
    const isByLabel = this.chance(2);
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: "In", values: [place] }] }] } };
    const spec = {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteMany"],
      claimRef: { namespace: "default", name, uid: name },
      ...(!isByLabel && { nodeAffinity }),
    };
    return {
      volume: { metadata: { name, ...(isByLabel && { labels: { [zone]: place } }) }, spec, status: { phase: "Bound" } },
      claim: {
        metadata: { name, namespace: "default", uid: name, annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
        spec: { volumeName: name, accessModes: ["ReadWriteMany"] },
        status: { phase: "Bound" },
      },
    };
  }

  budget(): PodDisruptionBudget {
    return {
      metadata: { name: `budget-${this.#names++}`, namespace: this.pick(["default", "default", "other"]), uid: `budget-${this.#names}`, resourceVersion: "1" },
      spec: { selector: { matchLabels: { app: this.pick(["a", "b", "c"]) } } },
      status: { disruptionsAllowed: this.#random.integer(3) },
    };
  }

  /** The devices of a node. */
  slice(node: string): ResourceSlice {
    const devices = Array.from({ length: 1 + this.#random.integer(4) }, (_, index) => ({
      name: `device-${index}`,
      attributes: {
        model: { string: this.pick(["x", "y"]) },
        size: { int: this.#random.integer(4) },
        ...(!this.chance(6) && { socket: { string: this.pick(["0", "1"]) } }),
      },
    }));
    const name = `slice-${this.#names++}`;
    return { metadata: { name, uid: name }, spec: { driver, nodeName: node, pool: { name: node, generation: 1, resourceSliceCount: 1 }, devices } };
  }

  deviceClaim(namespace: string): ResourceClaim {
    const name = `claim-${this.#names++}`;
    const requests = Array.from({ length: this.chance(4) ? 2 : 1 }, (_, index) => ({
      name: `r${index}`,
      exactly: {
        deviceClassName: "gpu",
        ...(this.chance(6) ? { allocationMode: "All" } : { allocationMode: "ExactCount", count: this.chance(3) ? 2 : 1 }),
        ...(this.chance(2) && { selectors: [{ cel: { expression: this.#selector() } }] }),
      },
    }));
    const constraints = this.chance(4) ? [{ matchAttribute: `${driver}/socket` }] : [];
    return { metadata: { name, namespace, uid: name, resourceVersion: "1" }, spec: { devices: { requests, constraints } } };
  }

  #selector(): string {
    const device = `device.attributes["${driver}"]`;
    return this.chance(2) ? `${device}.model == "${this.pick(["x", "y"])}"` : `${device}.size >= ${1 + this.#random.integer(3)}`;
  }

  /** `claims` are those that it may mount; the one it gets devices by, if any, has to be there already. */
  pod(claims: readonly PersistentVolumeClaim[], deviceClaimOf: (namespace: string) => string | undefined = () => undefined): Pod {
    const name = `pod-${this.#names++}`;
    const labels = { app: this.pick(["a", "b", "c"]), ...(this.chance(2) && { tier: this.pick(["x", "y"]) }) };
    const containers = Array.from({ length: this.chance(4) ? 2 : 1 }, (_, index) => ({
      name: `c${index}`,
      image: this.pick(["a:1", "b:1", "c:1", "d:1"]),
      resources: { requests: this.#requests() },
      ...(this.chance(12) && {
        ports: [{ containerPort: 80, hostPort: 8080 + this.#random.integer(2), ...(this.chance(2) && { hostIP: `10.0.0.${this.#random.integer(2)}` }) }],
      }),
    }));
    const isLocal = this.chance(10) && claims.length > 0;
    const namespace = isLocal || !this.chance(5) ? "default" : "other";
    const resourceClaimName = deviceClaimOf(namespace);
    return {
      metadata: { name, namespace, uid: name, labels },
      ...(this.chance(2) && { status: { startTime: `2026-01-01T00:0${this.#random.integer(4)}:00Z` } }),
      spec: {
        schedulerName: "default-scheduler",
        containers,
        priority: this.pick([0, 0, 0, 10, 10, 1000]),
        ...(this.chance(10) && { preemptionPolicy: "Never" }),
        ...(resourceClaimName !== undefined && { resourceClaims: [{ name: "devices", resourceClaimName }] }),
        ...(this.chance(10) && { nodeSelector: { [zone]: `zone-${this.#random.integer(4)}` } }),
        ...(this.chance(2) && { tolerations: this.#tolerations() }),
        ...(this.chance(2) && { affinity: this.#affinity() }),
        ...(this.chance(3) && { topologySpreadConstraints: this.#constraints() }),
        ...(isLocal && { volumes: [{ name: "v", persistentVolumeClaim: { claimName: this.pick(claims).metadata.name! } }] }),
      },
    };
  }

  #requests(): Record<string, string> {
    return {
      ...(!this.chance(4) && { cpu: `${1 + this.#random.integer(8)}00m` }),
      ...(!this.chance(4) && { memory: `${(1 + this.#random.integer(8)) * 64}Mi` }),
      ...(this.chance(15) && { "example.com/widget": "1" }),
    };
  }

  #taints(): Taint[] {
    return ["a", "b"]
      .filter(() => this.chance(5))
      .map((key) => ({ key, value: this.pick(["1", "2"]), effect: this.pick(["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"]) }));
  }

  #tolerations(): Toleration[] {
    return ["a", "b", ""]
      .filter(() => this.chance(2))
      .map((key) => {
        const effect = this.chance(2) ? { effect: this.pick(["NoSchedule", "PreferNoSchedule", "NoExecute"]) } : {};
        return key === "" || this.chance(2) ? { key, operator: "Exists", ...effect } : { key, operator: "Equal", value: this.pick(["1", "2"]), ...effect };
      });
  }

  #requirement(): NodeSelectorRequirement {
    return this.pick([
      { key: zone, operator: "In", values: [`zone-${this.#random.integer(4)}`, `zone-${this.#random.integer(4)}`] },
      { key: zone, operator: "NotIn", values: [`zone-${this.#random.integer(4)}`] },
      { key: "rack", operator: this.pick(["Exists", "DoesNotExist"]) },
      { key: "size", operator: this.pick(["Gt", "Lt"]), values: [String(this.#random.integer(10))] },
    ]);
  }

  #term(): PodAffinityTerm {
    const labelSelector = this.chance(3)
      ? { matchExpressions: [{ key: "tier", operator: this.pick(["Exists", "DoesNotExist"]) }] }
      : { matchLabels: { app: this.pick(["a", "b", "c"]) } };
    return {
      topologyKey: this.pick([hostname, zone, zone, "rack"]),
      labelSelector,
      ...(this.chance(5) && { namespaceSelector: {} }),
      ...(this.chance(6) && { namespaces: ["other"] }),
    };
  }

  #affinity(): Affinity {
    const weighted = () => ({ weight: 1 + this.#random.integer(100), podAffinityTerm: this.#term() });
    const terms = () => [
      { matchExpressions: [this.#requirement()] },
      ...(this.chance(2) ? [{ matchExpressions: [this.#requirement(), this.#requirement()] }] : []),
    ];
    return {
      ...(this.chance(3) && {
        nodeAffinity: {
          ...(this.chance(2) && { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms() } }),
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 + this.#random.integer(100), preference: { matchExpressions: [this.#requirement()] } }],
        },
      }),
      ...(this.chance(3) && {
        podAffinity: {
          ...(this.chance(2) && { requiredDuringSchedulingIgnoredDuringExecution: [this.#term(), ...(this.chance(4) ? [this.#term()] : [])] }),
          ...(this.chance(2) && { preferredDuringSchedulingIgnoredDuringExecution: [weighted()] }),
        },
      }),
      ...(this.chance(3) && {
        podAntiAffinity: {
          ...(this.chance(3) && { requiredDuringSchedulingIgnoredDuringExecution: [this.#term()] }),
          ...(this.chance(2) && { preferredDuringSchedulingIgnoredDuringExecution: [weighted()] }),
        },
      }),
    };
  }

  #constraints(): TopologySpreadConstraint[] {
    const keys = [hostname, zone, "rack"].filter(() => this.chance(2));
    return keys.map((topologyKey) => {
      const isHard = this.chance(2);
      return {
        topologyKey,
        maxSkew: 1 + this.#random.integer(4),
        whenUnsatisfiable: isHard ? "DoNotSchedule" : "ScheduleAnyway",
        labelSelector: { matchLabels: { app: this.pick(["a", "b", "c"]) } },
        ...(isHard && this.chance(2) && { minDomains: 2 + this.#random.integer(4) }),
        ...(this.chance(4) && { nodeTaintsPolicy: "Honor" }),
        ...(this.chance(4) && { nodeAffinityPolicy: "Ignore" }),
      };
    });
  }
}
