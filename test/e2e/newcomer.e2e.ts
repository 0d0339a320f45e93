/** The README's tour on a fresh clone, with nothing but a system Node and npm: `npm start`, then kubectl in another shell. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { Session, until, whyNoContainers } from "./instance.ts";

const execute = promisify(execFile);
const repository = path.resolve(import.meta.dirname, "../..");
const isRoot = process.getuid?.() === 0;
const newcomers = [
  {
    name: "as root, with containers",
    skip: (await whyNoContainers()) ?? false,
    uid: undefined,
    args: ["--port", "16464", "--kubelet.port=16272", "--pod-cidr", "10.225.0.0/16", "--service-cidr", "10.226.0.0/16"],
  },
  {
    name: "as an ordinary user",
    skip: false,
    uid: isRoot ? 65_534 : undefined,
    args: ["--port", "16465", "--kubelet.port=16273", ...(isRoot ? [] : ["--runtime", "process"])],
  },
];

for (const { name, skip, uid, args } of newcomers) {
  describe(`a newcomer ${name}`, { skip }, () => {
    test("follows the README", async () => {
      const home = await mkdtemp(path.join(tmpdir(), "coracle-newcomer-"));
      const clone = path.join(home, "coracle");
      const user = uid === undefined ? {} : { uid, gid: uid };
      const env = {
        HOME: home,
        PATH: "/usr/local/bin:/usr/bin:/bin",
        KUBECONFIG: path.join(home, "data", "kubeconfig"),
        KUBE_EDITOR: path.join(home, "editor"),
        npm_config_cache: path.join(home, "npm"),
      };
      const options = { cwd: clone, env, ...user, timeout: 180_000 };
      await writeFile(env.KUBE_EDITOR, "#!/bin/sh\nsed -i 's/replicas: 3/replicas: 4/' \"$1\"\n", { mode: 0o755 });
      await chmod(home, 0o755);
      // (git does not clone what belongs to somebody else.)
      await execute("git", ["clone", "--quiet", "--no-hardlinks", repository, clone], { env });
      if (uid !== undefined) await execute("chown", ["-R", `${uid}:${uid}`, home]);
      await using server = new Session(spawn("npm", ["start", "--", "--data-dir", path.join(home, "data"), ...args], options));
      const kubectl = async (...words: string[]) => (await execute(path.join(clone, "bin", "kubectl"), words, options)).stdout.trim();
      try {
        const [, told] = await server.saw(/^Kubernetes is ready\.\n\n {2}export KUBECONFIG=(\S+)\n\nTry:\n {2}bin\/kubectl get nodes\n/m, 180_000);
        assert.equal(told, env.KUBECONFIG);
        await followTour(kubectl);
      } finally {
        await execute(path.join(clone, "bin", "coracle"), ["reset", "--data-dir", path.join(home, "data")], options);
        await server.ended();
        await rm(home, { recursive: true });
      }
    });
  });
}

async function followTour(kubectl: (...words: string[]) => Promise<string>): Promise<void> {
  await kubectl("apply", "-f", "examples/hello.yaml");
  await kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
  assert.match(await kubectl("get", "deploy,rs,pods,svc", "-o", "wide"), /deployment\.apps\/hello +3\/3/);
  const [pod] = (await kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.name}")).split(" ");
  await kubectl("delete", "pod", pod!);
  await until(
    async () => ((await kubectl("get", "deployment", "hello", "-o", "jsonpath={.status.availableReplicas}")) === "3" ? true : undefined),
    "three replicas again",
  );
  await kubectl("edit", "deployment", "hello");
  await kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
  assert.equal(await kubectl("get", "deployment", "hello", "-o", "jsonpath={.status.replicas}"), "4");
  await kubectl("set", "image", "deployment/hello", "hello=coracle.local/hello:v2");
  await kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
  await kubectl("rollout", "undo", "deployment/hello");
  await kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
  // A pod of v2 may be there until it has ended.
  await until(async () => ((await kubectl("logs", "deployment/hello")) === "hello v1 listens on port 8080" ? true : undefined), "the log of v1");
  assert.match(await kubectl("describe", "deployment", "hello"), /ScalingReplicaSet +\S+ +deployment-controller +Scaled up replica set hello-\w+ from 0 to 3/);
  assert.match(await kubectl("api-resources"), /^deployments +deploy +apps\/v1 +true +Deployment$/m);
  assert.match(await kubectl("explain", "deployment.spec.replicas"), /FIELD: replicas <integer>/);
  assert.match(await kubectl("--help"), /^kubectl controls the Kubernetes cluster manager\./);
}
