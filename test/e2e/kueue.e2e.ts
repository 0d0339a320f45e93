/** Kueue, unmodified: it holds Jobs and pods back until there is quota, through webhooks on built-in kinds and conversions of its own kinds, against `coracle up`. */
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "./instance.ts";
import { OperatorHost, whyNoOperators } from "./operator-host.ts";

const release = "sigs.k8s.io/kueue@v0.17.0";
const namespace = "kueue-system";
const webhookPort = 16572;
const secret = "kueue-webhook-server-cert";
const queueName = { "kueue.x-k8s.io/queue-name": "team" };

const job = (name: string, cpu: string) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name, labels: queueName },
  spec: { parallelism: 2, completions: 2, template: { spec: podSpec(cpu) } },
});
const podSpec = (cpu: string) => ({
  restartPolicy: "Never",
  terminationGracePeriodSeconds: 0,
  containers: [{ name: "c", image: "busybox", command: ["sleep", "3600"], resources: { requests: { cpu } } }],
});
const clusterQueue = (name: string, cpu: number) => ({
  apiVersion: "kueue.x-k8s.io/v1beta2",
  kind: "ClusterQueue",
  metadata: { name },
  spec: {
    namespaceSelector: {},
    resourceGroups: [{ coveredResources: ["cpu"], flavors: [{ name: "default", resources: [{ name: "cpu", nominalQuota: cpu }] }] }],
  },
});

describe("Kueue", { skip: (await whyNoOperators()) ?? false, timeout: 1_800_000 }, () => {
  let host: OperatorHost;

  before(async () => {
    host = await OperatorHost.create({ port: 16571, kubeletPort: 16371, namespace });
    const sources = await host.goInstall(release, "./cmd/kueue");
    const chart = host.copy(path.join(sources, "charts", "kueue"));
    // Its API of pending workloads writes certificates to /visibility: that is for a container.
    for (const version of ["v1beta1", "v1beta2"]) rmSync(path.join(chart, "templates", "visibility", `apiservice_${version}.yaml`));
    await host.helmInstall("kueue", chart, ["controllerManager.replicas=0"]);
    const certificates = path.join(host.folder, "certificates");
    mkdirSync(certificates);
    const config = path.join(host.folder, "config.yaml");
    writeFileSync(config, JSON.stringify(configuration(certificates)));
    await host.publish("kueue-webhook-service", "", webhookPort);
    const kueue = await host.run("kueue", "kueue-controller-manager", ["--config", config]);
    await mountSecret(certificates);
    await kueue.saw(/CA certs are injected to webhooks/, 120_000);
    await kueue.saw(/Starting workers/, 120_000);
    await until(
      () =>
        host.instance.apply({ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "ResourceFlavor", metadata: { name: "default" } }).then(
          () => true,
          () => undefined,
        ),
      () => `a flavor; Kueue said:\n${host.logs}`,
      60_000,
    );
    await host.instance.apply(clusterQueue("shared", 3));
    // In a version that is not stored: its webhook converts.
    await host.instance.apply({
      apiVersion: "kueue.x-k8s.io/v1beta1",
      kind: "LocalQueue",
      metadata: { name: "team", namespace: "default" },
      spec: { clusterQueue: "shared" },
    });
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
  });

  /** What the kubelet would do for its pod: the Secret's files, as soon as Kueue has made them. */
  async function mountSecret(folder: string): Promise<void> {
    const data = await until(async () => {
      const { data: files } = JSON.parse(await host.instance.kubectl("get", "secret", secret, "-n", namespace, "-o", "json")) as {
        data?: Record<string, string>;
      };
      return files?.["tls.crt"] === undefined ? undefined : files;
    }, "Kueue's certificate");
    for (const [name, content] of Object.entries(data)) writeFileSync(path.join(folder, name), Buffer.from(content, "base64"));
  }

  test("a job waits until there is quota, and runs when another one is gone", async () => {
    await host.instance.apply(job("first", "1"));
    await host.instance.kubectl("wait", "--for=jsonpath={.status.ready}=2", "job/first", "--timeout=60s");
    await host.instance.apply(job("second", "1"));
    await host.instance.kubectl("wait", "--for=condition=Suspended", "job/second", "--timeout=60s");
    const [workload] = (await host.instance.kubectl("get", "workloads", "-o", "name")).split("\n").filter((name) => name.includes("job-second"));
    await host.instance.kubectl("wait", "--for=condition=QuotaReserved=False", workload!, "--timeout=60s");
    assert.equal(
      await host.instance.kubectl("get", workload!, "-o", "jsonpath={.status.conditions[0].message}"),
      "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 1 more needed",
    );
    assert.equal(await host.instance.kubectl("get", "pods", "-l", "batch.kubernetes.io/job-name=second", "-o", "name"), "");
    await host.instance.kubectl("delete", "job", "first");
    await host.instance.kubectl("wait", "--for=jsonpath={.status.ready}=2", "job/second", "--timeout=60s");
  });

  test("a pod of a queue is gated until there is quota", async () => {
    await host.instance.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "gated", labels: queueName }, spec: podSpec("2") });
    assert.match(await host.instance.kubectl("get", "pod", "gated", "-o", "jsonpath={.spec.schedulingGates[*].name}"), /^kueue\.x-k8s\.io\/admission\b/);
    assert.match(await host.instance.kubectl("get", "pod", "gated", "--no-headers"), /^gated +0\/1 +SchedulingGated /);
    await host.instance.kubectl("delete", "job", "second");
    await host.instance.kubectl("wait", "--for=condition=Ready", "pod/gated", "--timeout=60s");
  });

  test("its kinds are there in both versions, lists included", async () => {
    const read = (version: string, resource: string, output: string) =>
      host.instance.kubectl("get", `${resource}.${version}.kueue.x-k8s.io`, "-o", `jsonpath=${output}`);
    for (const version of ["v1beta1", "v1beta2"]) {
      assert.equal(await read(version, "localqueues", "{.items[*].apiVersion} {.items[*].spec.clusterQueue}"), `kueue.x-k8s.io/${version} shared`);
      assert.match(await read(version, "workloads", "{.items[*].apiVersion} {.items[*].status.conditions[?(@.type=='Admitted')].status}"), / True$/);
    }
  });

  test("faulty queues are refused, by the schema's rules and by its webhook", async () => {
    const faulty = clusterQueue("faulty", 3);
    await assert.rejects(
      host.instance.apply({
        ...faulty,
        spec: { ...faulty.spec, preemption: { reclaimWithinCohort: "Never", borrowWithinCohort: { policy: "LowerPriority" } } },
      }),
      /The ClusterQueue "faulty" is invalid: spec\.preemption: Invalid value: .*reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never/,
    );
    await assert.rejects(
      host.instance.apply({ ...faulty, spec: { ...faulty.spec, resourceGroups: [...faulty.spec.resourceGroups, ...faulty.spec.resourceGroups] } }),
      /admission webhook "vclusterqueue.kb.io" denied the request: .*spec\.resourceGroups\[1\].* Duplicate value: "cpu"/,
    );
  });

  function configuration(certDir: string): object {
    return {
      apiVersion: "config.kueue.x-k8s.io/v1beta2",
      kind: "Configuration",
      namespace,
      health: { healthProbeBindAddress: "127.0.0.1:16573" },
      metrics: { bindAddress: "0" },
      webhook: { port: webhookPort, certDir },
      leaderElection: { leaderElect: true, resourceName: "c1f6bfd2.kueue.x-k8s.io", resourceNamespace: namespace },
      internalCertManagement: { enable: true, webhookServiceName: "kueue-webhook-service", webhookSecretName: secret },
      integrations: { frameworks: ["batch/job", "pod"] },
      featureGates: { VisibilityOnDemand: false },
    };
  }
});
