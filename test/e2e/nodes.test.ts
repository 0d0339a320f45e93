/** Several nodes on one machine, each with a network and a containerd of its own: traffic between them, power cuts, more and fewer of them. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until, whyNoContainers } from "./instance.ts";

const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");
const args = [
  "--port",
  "16491",
  "--runtime",
  "containerd",
  "--nodes",
  "2",
  "--node-name",
  "first",
  "--kubelet.port=16291",
  "--pod-cidr",
  "10.191.0.0/16",
  "--service-cidr",
  "10.192.0.0/16",
  "--node-cidr",
  "10.193.0.0/24",
  "--load-balancer-cidr",
  "10.194.0.0/24",
];

describe("several nodes", { skip: (await whyNoContainers()) ?? false }, () => {
  let instance: Instance;
  before(async () => {
    instance = await Instance.create();
    await instance.start({ args });
    await instance.kubectl("wait", "--for=create", "node/first-2", "--timeout=60s");
    await instance.kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=60s");
    // Two pods on each node, wherever they would go otherwise.
    await instance.kubectl("apply", "-f", hello);
    await instance.kubectl(
      "patch",
      "deployment",
      "hello",
      "-p",
      JSON.stringify({
        spec: {
          replicas: 4,
          template: {
            spec: {
              topologySpreadConstraints: [
                { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: { app: "hello" } } },
              ],
            },
          },
        },
      }),
    );
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });
  const restartsOf = (node: string) =>
    instance.kubectl(
      "get",
      "pods",
      "--field-selector",
      `spec.nodeName=${node}`,
      "-o",
      "jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[0].containerID}{'\\n'}{end}",
    );

  test("a pod of either node reaches the pods of both through the Service, by its name", async () => {
    for (const node of ["first", "first-2"]) {
      const [pod] = await instance.podsOf(node);
      const seen = new Set<string>();
      await until(
        async () => {
          seen.add(await instance.kubectl("exec", pod!, "--", "wget", "-qO-", "http://hello"));
          return seen.size === 4 ? true : undefined;
        },
        () => `an answer of each replica, but ${[...seen].join(", ")}`,
        60_000,
      );
    }
  });

  test("logs and exec lead to the right node, and the machine reaches its node ports", async () => {
    const [pod] = await instance.podsOf("first-2");
    assert.match(await instance.kubectl("logs", pod!), /hello v1 listens/);
    assert.equal(await instance.kubectl("exec", pod!, "--", "hostname"), pod);
    const port = await instance.kubectl("get", "service", "hello", "-o", "jsonpath={.spec.ports[0].nodePort}");
    assert.match(await instance.fetch(`http://10.193.0.11:${port}/`), /^hello v1/);
    assert.equal(await instance.kubectl("get", "node", "first-2", "-o", "jsonpath={.spec.podCIDR}"), "10.191.1.0/24");
  });

  test("a load balancer has an address that the machine and pods of every node reach", async () => {
    const ingress = () => instance.kubectl("get", "service", "hello", "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}");
    await instance.kubectl("patch", "service", "hello", "-p", '{"spec":{"type":"LoadBalancer"}}');
    await until(async () => ((await ingress()) === "10.194.0.1" ? true : undefined), "an address");
    assert.match(await instance.fetch("http://10.194.0.1/"), /^hello v1/);
    const [pod] = await instance.podsOf("first-2");
    await until(
      async () => (await instance.kubectl("exec", pod!, "--", "wget", "-qO-", "http://10.194.0.1").catch(() => "")).startsWith("hello v1") || undefined,
      "an answer in a pod",
    );
    await instance.kubectl("patch", "service", "hello", "-p", '{"spec":{"type":"NodePort"}}');
    await until(async () => ((await ingress()) === "" ? true : undefined), "no address");
    assert.equal(await instance.kubectl("get", "service", "hello", "-o", "jsonpath={.metadata.finalizers}"), "");
  });

  test("a power cut leaves nothing of a node; started again it runs its pods", async () => {
    assert.match(await instance.coracle("node", "ls"), /^first-2 +running$/);
    await instance.coracle("node", "stop", "first-2");
    assert.match(await instance.coracle("node", "ls"), /^first-2 +stopped$/);
    assert.doesNotMatch(execFileSync("ip", ["route"], { encoding: "utf8" }), /10\.191\.1\.0/);
    const before = await restartsOf("first-2");
    await instance.coracle("node", "start", "first-2");
    await until(async () => {
      const now = await restartsOf("first-2");
      return now.split("\n").every((line) => !before.includes(line)) && now !== "" ? true : undefined;
    }, "new containers");
    await instance.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=hello", "--timeout=60s");
  });

  test("one more, and one less", async () => {
    await instance.coracle("node", "add", "extra");
    await instance.kubectl("wait", "--for=condition=Ready", "node/extra", "--timeout=60s");
    await assert.rejects(instance.coracle("node", "add", "extra"), /there is a node extra already/);
    await instance.coracle("node", "rm", "extra");
    assert.doesNotMatch(await instance.coracle("node", "ls"), /extra/);
    await assert.rejects(instance.coracle("node", "rm", "../first-2"), /there is no node "\.\.\/first-2"/);
  });

  test("a reset leaves no interface, namespace, table or process", async () => {
    const [, id] = /^instance +(\w+)$/m.exec(await instance.coracle("status"))!;
    await instance.coracle("reset");
    for (const words of [["link"], ["netns", "list"], ["route"]]) assert.doesNotMatch(execFileSync("ip", words, { encoding: "utf8" }), new RegExp(id!));
    assert.doesNotMatch(execFileSync("nft", ["list", "tables"], { encoding: "utf8" }), new RegExp(id!));
    assert.doesNotMatch(execFileSync("ps", ["ax", "-o", "args"], { encoding: "utf8" }), new RegExp(`${instance.dataDir}/`));
  });
});
