/** NetworkPolicies on a cluster: between pods of one node, through a Service, with names still found. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until, whyNoContainers } from "./instance.ts";

const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");
const args = [
  "--port",
  "16493",
  "--runtime",
  "containerd",
  "--kubelet.port=16293",
  "--pod-cidr",
  "10.205.0.0/16",
  "--service-cidr",
  "10.206.0.0/16",
  "--node-cidr",
  "10.207.0.0/24",
];

describe("network policies", { skip: (await whyNoContainers()) ?? false }, () => {
  let instance: Instance;
  before(async () => {
    instance = await Instance.create();
    await instance.start({ args });
    await instance.kubectl("apply", "-f", hello);
    for (const name of ["friend", "stranger"]) await instance.kubectl("run", name, "--image=coracle.local/hello:v1", `--labels=role=${name}`);
    await instance.kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=60s");
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });
  const apply = (name: string, spec: unknown) => instance.apply({ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name }, spec });
  const answers = (pod: string) =>
    instance.kubectl("exec", pod, "--", "timeout", "2", "wget", "-qO-", "http://hello").then(
      (text) => text.startsWith("hello v1"),
      () => false,
    );
  const becomes = (pod: string, isAnswered: boolean) =>
    until(async () => ((await answers(pod)) === isAnswered ? true : undefined), `${isAnswered ? "an" : "no"} answer for ${pod}`);

  test("only whom a policy lets in reaches the pods behind the Service; their probes go on", async () => {
    await becomes("stranger", true);
    await apply("only-friends", {
      podSelector: { matchLabels: { app: "hello" } },
      ingress: [{ from: [{ podSelector: { matchLabels: { role: "friend" } } }] }],
    });
    await becomes("stranger", false);
    assert.equal(await answers("friend"), true);
    await instance.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=hello", "--timeout=5s");
    await instance.kubectl("label", "pod", "stranger", "role=friend", "--overwrite");
    await becomes("stranger", true);
  });

  test("egress to the cluster's DNS and to the pods, and nothing else", async () => {
    const dns = {
      to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } }, podSelector: { matchLabels: { "k8s-app": "kube-dns" } } }],
      ports: [{ protocol: "UDP", port: 53 }],
    };
    await apply("out", { podSelector: { matchLabels: { run: "none" } }, policyTypes: ["Egress"], egress: [dns] });
    await instance.kubectl("label", "pod", "friend", "run=none", "--overwrite");
    await becomes("friend", false);
    await apply("out", {
      podSelector: { matchLabels: { run: "none" } },
      policyTypes: ["Egress"],
      egress: [dns, { to: [{ podSelector: { matchLabels: { app: "hello" } } }] }],
    });
    await becomes("friend", true);
  });

  test("without policies everything is free again", async () => {
    await instance.kubectl("delete", "networkpolicy", "--all");
    await instance.kubectl("label", "pod", "stranger", "role=stranger", "--overwrite");
    await becomes("stranger", true);
  });
});
