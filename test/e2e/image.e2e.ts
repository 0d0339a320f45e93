/** `npm run image`: the product's own image runs in a container, and serves a cluster from there. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, kubectlPath, whyNoContainers } from "./instance.ts";

const root = path.resolve(import.meta.dirname, "../..");

describe("the image", { skip: (await whyNoContainers()) ?? false }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "image-"));
  let instance: Instance;
  before(async () => {
    instance = await Instance.create();
    await instance.start({
      args: ["--runtime", "containerd", "--port", "16466", "--pod-cidr", "10.181.0.0/16", "--service-cidr", "10.182.0.0/16", "--kubelet.port=16271"],
    });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  test("is built, loaded, and answers as a cluster with a node", async () => {
    const said = execFileSync(process.execPath, [path.join(root, "tools", "image.ts")], { encoding: "utf8" });
    const [, name] = /^(\S+): /.exec(said)!;
    await instance.coracle("image", "load", path.join(root, "dist", "image", "coracle.tar"));
    const probe = { httpGet: { scheme: "HTTPS", path: "/readyz", port: 6443 }, periodSeconds: 1, timeoutSeconds: 5 };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "inner" },
      spec: { terminationGracePeriodSeconds: 5, containers: [{ name: "coracle", image: name, imagePullPolicy: "Never", readinessProbe: probe }] },
    };
    const file = path.join(folder, "pod.json");
    writeFileSync(file, JSON.stringify(pod));
    await instance.kubectl("apply", "-f", file);
    await instance.kubectl("wait", "--for=condition=Ready", "pod/inner", "--timeout=60s");

    const kubeconfig = path.join(folder, "kubeconfig");
    writeFileSync(kubeconfig, await instance.kubectl("exec", "inner", "--", "cat", "/data/kubeconfig"), { mode: 0o600 });
    const server = `https://${await instance.kubectl("get", "pod", "inner", "-o", "jsonpath={.status.podIP}")}:6443`;
    const inner = (...args: string[]) => execFileSync(kubectlPath, ["--kubeconfig", kubeconfig, "--server", server, ...args], { encoding: "utf8" });
    inner("create", "deployment", "web", "--image=web");
    inner("wait", "--for=condition=Available", "deployment/web", "--timeout=30s");
    assert.equal(inner("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"), "node");
  });
});
