/** Simulated nodes: the API states without containers, spread over nodes, and what happens when one stops beating. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance } from "./instance.ts";

const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");

describe("simulated nodes", () => {
  let instance: Instance;
  before(async () => {
    instance = await Instance.create();
    await instance.start({ args: ["--port", "16445", "--runtime", "simulated", "--nodes", "3", "--store", "memory", "--kubelet.port=16252"] });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });

  test("pods spread over three nodes and become ready", async () => {
    await instance.kubectl("apply", "-f", hello);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    const nodes = (await instance.kubectl("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[*].spec.nodeName}")).split(" ");
    assert.equal(new Set(nodes).size, 3);
    assert.match(await instance.kubectl("get", "deployments,replicasets,pods,services", "-o", "wide"), /3\/3/);
    assert.match(await instance.kubectl("describe", "deployment", "hello"), /ScalingReplicaSet/);
  });

  test("kubectl's own commands find their way: edit by patch, labels, top-level help", async () => {
    await instance.kubectl("label", "deployment", "hello", "tier=web");
    await instance.kubectl("annotate", "deployment", "hello", "note=one");
    await instance.kubectl("patch", "deployment", "hello", "--type=json", "-p", '[{"op":"replace","path":"/spec/replicas","value":2}]');
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    assert.equal(
      await instance.kubectl("get", "deployment", "hello", "-o", "jsonpath={.metadata.labels.tier} {.metadata.annotations.note} {.status.readyReplicas}"),
      "web one 2",
    );
    assert.match(await instance.kubectl("explain", "pod.spec.containers"), /FIELD: containers/);
    await instance.kubectl("delete", "deployment", "hello");
    await instance.kubectl("wait", "--for=delete", "pod", "-l", "app=hello", "--timeout=60s");
  });
});
