/** Kubernetes' own metrics-server, unmodified, as an aggregated API server in place of ours. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "./instance.ts";
import type { Session } from "./instance.ts";
import { OperatorHost, whyNoOperators } from "./operator-host.ts";

const release = "sigs.k8s.io/metrics-server@v0.9.0";
const port = 16582;

describe("metrics-server", { skip: (await whyNoOperators()) ?? false, timeout: 1_800_000 }, () => {
  let host: OperatorHost;
  let server: Session;

  before(async () => {
    // All but our own metrics, which have the same place.
    const components = "apiserver,controllers,scheduler,kubelet,proxy,dns,network,storage,nodes";
    const args = ["--runtime", "process", "--components", components, "--node-name", "first"];
    host = await OperatorHost.create({ port: 16581, kubeletPort: 16381, namespace: "kube-system", args });
    const sources = await host.goInstall(release, "./cmd/metrics-server");
    await host.helmInstall("metrics-server", path.join(sources, "charts", "metrics-server"), ["replicas=0"]);
    server = await host.run("metrics-server", "metrics-server", [
      `--secure-port=${port}`,
      `--cert-dir=${host.folder}`,
      ...["authentication", "authorization"].map((what) => `--${what}-kubeconfig=${host.kubeconfigOf("metrics-server")}`),
      "--kubelet-preferred-address-types=InternalIP",
      "--kubelet-use-node-status-port",
      "--kubelet-insecure-tls",
      "--kubelet-request-timeout=5s",
      "--metric-resolution=10s",
    ]);
    await host.publish("metrics-server", "https", port);
    const container = { name: "c", image: "coracle.local/hello:v1", command: ["sh", "-c", "while :; do :; done"] };
    await host.instance.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "busy" },
      spec: { terminationGracePeriodSeconds: 0, containers: [container] },
    });
    await host.instance.kubectl("wait", "--for=condition=Ready", "pod/busy", "--timeout=60s");
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
  });

  test("its API is available, part of discovery and OpenAPI, and answers who may ask", async () => {
    await host.instance.kubectl("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=60s");
    assert.match(await host.instance.kubectl("api-resources", "--api-group=metrics.k8s.io", "--no-headers"), /^nodes .* NodeMetrics\npods .* PodMetrics$/);
    await until(
      async () => ((await host.instance.kubectl("explain", "podmetrics.containers").catch(() => "")).includes("KIND:       PodMetrics") ? true : undefined),
      "its schema",
    );
    await assert.rejects(
      host.instance.kubectl("get", "podmetrics", "--as=nobody"),
      /pods\.metrics\.k8s\.io is forbidden: User "nobody" cannot list resource "pods" in API group "metrics\.k8s\.io" in the namespace "default"/,
    );
  });

  test("top shows what it has measured", async () => {
    const top = (...words: string[]) => host.instance.kubectl("top", ...words, "--no-headers").catch(() => "");
    await until(
      async () => /^busy +[1-9]\d*m +\d+Mi$/.test(await top("pods")) || undefined,
      () => `a busy pod; metrics-server said:\n${host.logs}`,
      90_000,
    );
    await until(async () => /^first +[1-9]\d*m +\d+% +\d+Mi +\d+%$/.test(await top("nodes")) || undefined, "the node");
  });

  test("without it the rest goes on, and it is told", async () => {
    await server[Symbol.asyncDispose]();
    await host.instance.kubectl("wait", "--for=condition=Available=False", "apiservice/v1beta1.metrics.k8s.io", "--timeout=90s");
    assert.match(
      await host.instance.kubectl("get", "apiservice", "v1beta1.metrics.k8s.io", "--no-headers"),
      /^v1beta1\.metrics\.k8s\.io +kube-system\/metrics-server +False \(FailedDiscoveryCheck\) /,
    );
    await assert.rejects(host.instance.kubectl("top", "nodes"), /ServiceUnavailable|Metrics API not available|the server is currently unable/);
    assert.match(await host.instance.kubectl("get", "pods", "--no-headers"), /^busy +1\/1 +Running/);
  });
});
