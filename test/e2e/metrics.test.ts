/** `kubectl top` and an autoscaler, on what pods really use: processes of this machine. */
import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { after, before, describe, test } from "node:test";
import { Instance, until } from "./instance.ts";

// The API server asks nobody on a loopback address.
const hasAddress = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.family === "IPv4" && !one.internal);

describe("metrics", { skip: hasAddress ? false : "needs an address other than loopback" }, () => {
  let instance: Instance;
  before(async () => {
    instance = await Instance.create();
    await instance.start({
      args: [
        "--port",
        "16494",
        "--runtime",
        "process",
        "--kubelet.port=16294",
        "--store",
        "memory",
        "--node-name",
        "first",
        "--controllers.horizontal-pod-autoscaler-sync-period=1s",
      ],
    });
    const container = { name: "c", image: "coracle.local/hello:v1", command: ["sh", "-c", "while :; do :; done"], resources: { requests: { cpu: "10m" } } };
    await instance.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "busy" },
      spec: {
        selector: { matchLabels: { app: "busy" } },
        template: { metadata: { labels: { app: "busy" } }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
      },
    });
    await instance.kubectl("wait", "--for=condition=Available", "deployment/busy", "--timeout=60s");
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });
  const top = (...words: string[]) => instance.kubectl("top", ...words, "--no-headers").catch(() => "");

  test("top shows what nodes, pods and containers use", async () => {
    await until(async () => /^busy-\S+ +[1-9]\d*m +\d+Mi$/.test(await top("pods", "-l", "app=busy")) || undefined, "a busy pod", 60_000);
    assert.match(await top("pods", "--containers"), /^busy-\S+ +c +[1-9]\d*m +\d+Mi$/);
    await until(async () => /^first +[1-9]\d*m +\d+% +\d+Mi +\d+%$/.test(await top("nodes")) || undefined, "the node");
    assert.equal(await top("pods", "-l", "app=other"), "");
  });

  test("the API is part of discovery, and viewers may read it", async () => {
    assert.match(
      await instance.kubectl("api-resources", "--api-group=metrics.k8s.io", "--no-headers"),
      /^nodes +metrics\.k8s\.io\/v1beta1 +false +NodeMetrics\npods +metrics\.k8s\.io\/v1beta1 +true +PodMetrics$/,
    );
    assert.match(
      await instance.kubectl("get", "apiservice", "v1beta1.metrics.k8s.io", "--no-headers"),
      /^v1beta1\.metrics\.k8s\.io +kube-system\/metrics-server +True /,
    );
    await assert.rejects(
      instance.kubectl("get", "--raw", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/none"),
      /pods\.metrics\.k8s\.io "default\/none" not found/,
    );
  });

  test("an autoscaler adds pods to one that uses more than it asked for", async () => {
    await instance.kubectl("autoscale", "deployment", "busy", "--cpu=50%", "--min=1", "--max=2");
    await until(
      async () => ((await instance.kubectl("get", "deployment", "busy", "-o", "jsonpath={.spec.replicas}")) === "2" ? true : undefined),
      "a second pod",
      60_000,
    );
  });
});
