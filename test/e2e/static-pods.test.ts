/** Pods that the node reads from a directory: mirrors in the API, changes of the files, what clients may do to mirrors. */
import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until } from "./instance.ts";

const manifest = (image: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: kube-system, labels: {tier: node}}\nspec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: "${image}"}]}\n`;

describe("static pods", () => {
  let instance: Instance;
  let directory: string;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), "coracle-static-"));
    await writeFile(path.join(directory, "web.yaml"), manifest("web:1"));
    await writeFile(path.join(directory, "broken.yaml"), "kind: [");
    instance = await Instance.create();
    await instance.start({
      args: [
        "--port",
        "16447",
        "--runtime",
        "simulated",
        "--node-name",
        "n1",
        "--store",
        "memory",
        "--kubelet.port=16254",
        `--kubelet.pod-manifest-path=${directory}`,
      ],
    });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });
  const get = (jsonpath: string) => instance.kubectl("get", "pod", "-n", "kube-system", "web-n1", "--ignore-not-found", "-o", `jsonpath=${jsonpath}`);
  const put = async (text: string) => {
    await writeFile(path.join(directory, ".new"), text);
    await rename(path.join(directory, ".new"), path.join(directory, "web.yaml"));
  };

  test("a mirror shows the pod, as the node's", async () => {
    await until(async () => ((await get("{.status.phase}")) === "Running" ? true : undefined), "a running mirror");
    assert.equal(
      await get("{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name} {.metadata.labels.tier} {.status.containerStatuses[0].image}"),
      "Node/n1 node docker.io/library/web:1",
    );
    assert.equal(await get("{.metadata.annotations.kubernetes\\.io/config\\.source}"), "file");
    assert.equal(await get("{.metadata.annotations.kubernetes\\.io/config\\.mirror}"), await get("{.metadata.annotations.kubernetes\\.io/config\\.hash}"));
  });

  test("a deleted mirror comes back, the container goes on", async () => {
    const before = await get("{.metadata.uid} {.status.containerStatuses[0].containerID}");
    await instance.kubectl("delete", "pod", "-n", "kube-system", "web-n1", "--now", "--wait=false");
    const now = await until(async () => {
      const text = await get("{.metadata.uid} {.status.containerStatuses[0].containerID}");
      return / \S/.test(text) && text.split(" ")[0] !== before.split(" ")[0] ? text : undefined;
    }, "another mirror with a status");
    assert.equal(now.split(" ")[1], before.split(" ")[1]);
  });

  test("a changed file is another pod; a removed one takes the mirror with it", async () => {
    await put(manifest("web:2"));
    await until(
      async () => ((await get("{.status.containerStatuses[0].image} {.status.phase}")) === "docker.io/library/web:2 Running" ? true : undefined),
      "the new pod",
    );
    await rm(path.join(directory, "web.yaml"));
    await until(async () => ((await get("{.metadata.name}")) === "" ? true : undefined), "no mirror");
  });
});
