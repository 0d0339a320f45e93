/** A node of another machine joins by a token: a network namespace with a data directory of its own stands for the machine. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until, whyNoContainers } from "./instance.ts";

const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");
const args = [
  "--port",
  "16492",
  "--runtime",
  "containerd",
  "--node-name",
  "first",
  "--kubelet.port=16292",
  "--pod-cidr",
  "10.195.0.0/16",
  "--service-cidr",
  "10.196.0.0/16",
  "--node-cidr",
  "10.197.0.0/24",
];
const machine = `m${process.pid}`;
const ip = (...words: string[]) => execFileSync("ip", words, { encoding: "utf8" });

describe("a node joins", { skip: (await whyNoContainers()) ?? false }, () => {
  let cluster: Instance;
  let other: Instance;
  let words: string[] = [];
  before(async () => {
    ip("netns", "add", machine);
    ip("link", "add", machine, "type", "veth", "peer", "name", "eth0", "netns", machine);
    for (const [name, address, ...where] of [
      [machine, "10.198.0.1/24"],
      ["eth0", "10.198.0.2/24", "-netns", machine],
    ] as const) {
      ip(...where, "address", "add", address, "dev", name);
      ip(...where, "link", "set", name, "up");
    }
    ip("-netns", machine, "link", "set", "lo", "up");
    ip("-netns", machine, "route", "add", "default", "via", "10.198.0.1");
    cluster = await Instance.create();
    other = await Instance.create();
    await cluster.start({ args });
    const command = await cluster.coracle("token", "create");
    words = command.split(" ").slice(2);
    assert.match(command, /^coracle join https:\/\/[\d.]+:16492 --token [a-z0-9]{6}\.[a-z0-9]{16} --ca-cert-hash sha256:[0-9a-f]{64}$/);
  });
  after(async () => {
    await other[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
    ip("netns", "delete", machine);
  });
  const join = (...given: string[]) => other.start({ command: "join", namespace: machine, args: given });

  test("a token that the cluster does not know, and an authority that was not expected, are told", async () => {
    const [server, , token] = words;
    await assert.rejects(join(server!, "--token", "abcdef.0123456789abcdef"), /the server does not know this token/);
    await assert.rejects(
      join(server!, "--token", token!, "--ca-cert-hash", "sha256:00"),
      /the server's authority is sha256:[0-9a-f]+, which is not what was expected/,
    );
    await assert.rejects(join(server!, "--token", "x"), /a token looks like/);
  });

  test("with a token it joins, runs pods, and its pods and those of the cluster reach each other", async () => {
    await join(...words, "--node-name", "second");
    await cluster.kubectl("wait", "--for=condition=Ready", "node/second", "--timeout=60s");
    await cluster.kubectl("apply", "-f", hello);
    await cluster.kubectl(
      "patch",
      "deployment",
      "hello",
      "-p",
      JSON.stringify({
        spec: {
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
    await cluster.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    for (const node of ["first", "second"]) {
      const [pod] = await cluster.podsOf(node);
      const seen = new Set<string>();
      await until(
        async () => {
          seen.add(await cluster.kubectl("exec", pod!, "--", "wget", "-qO-", "http://hello"));
          return seen.size === 3 ? true : undefined;
        },
        () => `an answer of each replica, but ${[...seen].join(", ")}`,
        60_000,
      );
    }
  });

  test("it holds no key of the cluster, and starts again without token and server", async () => {
    assert.deepEqual(
      readdirSync(path.join(other.dataDir, "pki"))
        .filter((name) => name.endsWith(".key"))
        .sort(),
      ["client-system_kube-proxy.key", "client-system_node_second.key", "kubelet.key"],
    );
    await other.endAll("SIGKILL");
    await join();
    await cluster.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=hello", "--timeout=60s");
    const [pod] = await cluster.podsOf("second");
    assert.match(await cluster.kubectl("logs", pod!), /hello v1 listens/);
    assert.match(await cluster.coracle("token", "ls"), /^[a-z0-9]{6} +until \d{4}-/);
  });
});
