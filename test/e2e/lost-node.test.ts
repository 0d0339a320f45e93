/** A node that stops beating loses its pods to the others, by itself. The node is a process of its own, and is killed. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until } from "./instance.ts";

const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");

describe("a node that stops beating", () => {
  let instance: Instance;
  before(async () => {
    instance = await Instance.create();
    // Nodes beat every ten seconds; to wait for fifty, as everywhere else, would be long for a test.
    await instance.start({
      args: [
        "--port",
        "16458",
        "--runtime",
        "simulated",
        "--nodes",
        "2",
        "--node-name",
        "stays",
        "--kubelet.port=16265",
        "--controllers.node-monitor-grace-period=13s",
      ],
    });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });

  test("loses its pods", async () => {
    const node = await instance.start({ command: "kubelet", args: ["--runtime", "simulated", "--node-name", "leaves", "--port=16266"] });
    await instance.kubectl("wait", "--for=create", "node/leaves", "--timeout=30s");
    await instance.kubectl("wait", "--for=condition=Ready", "node/leaves", "--timeout=30s");
    await instance.kubectl("apply", "-f", hello);
    // Nor do these pods wait for five minutes.
    const tolerations = ["not-ready", "unreachable"].map((state) => ({
      key: `node.kubernetes.io/${state}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 1,
    }));
    await instance.kubectl(
      "patch",
      "deployment",
      "hello",
      "-p",
      JSON.stringify({ spec: { strategy: { type: "Recreate", rollingUpdate: null }, template: { spec: { tolerations } } } }),
    );
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    const nodesOfPods = async () =>
      (await instance.kubectl("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[?(@.status.phase=='Running')].spec.nodeName}")).split(" ").sort();
    assert.deepEqual(await nodesOfPods(), ["leaves", "stays", "stays-2"]);
    await instance.end(node, "SIGKILL");
    await instance.kubectl("wait", "--for=condition=Ready=Unknown", "node/leaves", "--timeout=60s");
    const after = await until(
      async () => {
        const nodes = (await nodesOfPods()).filter((name) => name !== "leaves");
        return nodes.length === 3 ? nodes : undefined;
      },
      "three pods on the nodes that stay",
      30_000,
    );
    assert.equal(new Set(after).size, 2);
    assert.match(await instance.kubectl("get", "node", "leaves", "-o", "jsonpath={.spec.taints[*].key}"), /node\.kubernetes\.io\/unreachable/);
    assert.match(await instance.kubectl("get", "events", "--field-selector", "reason=TaintManagerEviction"), /Marking for deletion Pod default\/hello-/);
  });
});
