/** Kubernetes' own components as those of a test cluster: the controllers, the scheduler, nodes whose containers are only records. */
import { ensureComponentRole } from "../../cluster/component-role.ts";
import { quotaRules } from "../../cluster/components/apiserver/quota-rules.ts";
import { runControllers } from "../../controllers/index.ts";
import { createKubelet, createSimulatedRuntime, nodeNetworkCalls, NoStorage, simulatedMachine } from "../../kubelet/index.ts";
import type { ContainerRuntime } from "../../kubelet/index.ts";
import type { ReconcileRecord } from "../../operator/index.ts";
import { createScheduler } from "../../scheduler/index.ts";
import type { Scheduler, SchedulerOptions } from "../../scheduler/index.ts";
import { createProvisioner, noDirectories, provisionerRules } from "../../storage-provisioner/index.ts";
import { testAuthority } from "../authority.ts";
import type { ClusterComponent } from "../component.ts";

/** `selection` is as `--controllers` of kube-controller-manager: `["*"]`, `["deployment-controller", …]`, `["*", "-job-controller"]`. */
export function controllers(selection: readonly string[], onReconciled: (record: ReconcileRecord) => void): ClusterComponent {
  return (context) => runControllers({ ...context, caBundle: testAuthority, quotaRules, flags: new Map(), selection, onReconciled });
}

/** `onStart` gets each scheduler that the component makes. */
export function scheduler(onStart: (scheduler: Scheduler) => void, options: Pick<SchedulerOptions, "config" | "plugins"> = {}): ClusterComponent {
  return async ({ transportFor, clock, random, log, signal }) => {
    const transport = transportFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] });
    const made = createScheduler({ ...options, transport, clock, random, log, hostName: "control-plane", keptDecisions: 1000 });
    onStart(made);
    await made.run(signal);
  };
}

const provisionerUser = "system:serviceaccount:kube-system:coracle-local-path";

/** Volumes for claims, by the default StorageClass; their directories are only names. */
export const storage: ClusterComponent = async (context) => {
  const { transportFor, clock, random, log, signal } = context;
  await ensureComponentRole(
    { environment: { clock }, transportFor, signal },
    { name: "system:coracle-local-path", user: provisionerUser, rules: provisionerRules() },
  );
  const transport = transportFor({
    username: provisionerUser,
    groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
  });
  await createProvisioner({ transport, clock, random, log, directories: noDirectories("/volumes") }).run(signal);
};

/** A node with a runtime of its own, which outlives its kubelet: what ran goes on when the kubelet is started again. */
export class SimulatedNode {
  readonly name: string;
  readonly #index: number;
  #runtime: ContainerRuntime | undefined;

  constructor(index: number) {
    this.#index = index;
    this.name = `node-${index + 1}`;
  }

  /** Where pods' addresses come from. */
  get podCidr(): string {
    return `10.${244 + (this.#index >> 8)}.${this.#index & 255}.0/24`;
  }

  readonly kubelet: ClusterComponent = async ({ transportFor, clock, random, log, signal }) => {
    const { name } = this;
    this.#runtime ??= createSimulatedRuntime({ clock, random, podCidr: this.podCidr });
    const kubelet = createKubelet({
      transport: transportFor({ username: `system:node:${name}`, groups: ["system:nodes", "system:authenticated"] }),
      userAgent: `kubelet/v1.37.2 (${name})`,
      kubeletVersion: "v1.37.2",
      nodeName: name,
      nodeAddress: `192.0.2.${10 + (this.#index % 200)}`,
      serverPort: 10_250,
      machine: simulatedMachine,
      runtime: this.#runtime,
      storage: new NoStorage(),
      network: nodeNetworkCalls,
      dns: { clusterServers: ["10.0.0.10"], clusterDomain: "cluster.local", host: { servers: [], searches: [], options: [] } },
      logRoot: "/nowhere",
      owner: name,
      clock,
      random,
      log,
    });
    await kubelet.run(signal);
  };

  /** Ends every container's timers. */
  async close(): Promise<void> {
    await this.#runtime?.close();
  }
}
