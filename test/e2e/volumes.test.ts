/** A StatefulSet with claims on each runtime: what a pod has written its successor finds; when the claim goes, so does the directory. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, test } from "node:test";
import { Instance, until, whyNoContainers } from "./instance.ts";

const noContainers = await whyNoContainers();

const example = path.resolve(import.meta.dirname, "../../examples/stateful.yaml");
const runtimes: [runtime: string, skip: string | undefined, args: string[]][] = [
  ["containerd", noContainers, ["--pod-cidr", "10.185.0.0/16", "--service-cidr", "10.186.0.0/16"]],
  ["process", undefined, ["--service-cidr", "10.187.0.0/16"]],
  ["simulated", undefined, ["--service-cidr", "10.188.0.0/16"]],
];
for (const [runtime, skip, more] of runtimes) {
  describe(`volumes on ${runtime}`, { skip: skip ?? false }, () => {
    test("a StatefulSet's claims get directories, which outlive its pods and go with the claims", async () => {
      await using instance = await Instance.create();
      await instance.start({ args: ["--port", "0", "--kubelet.port=0", "--runtime", runtime, ...more] });
      const directories = async () => readdir(path.join(instance.dataDir, "volumes")).catch(() => []);
      await instance.kubectl("apply", "-f", example);
      await instance.kubectl("rollout", "status", "statefulset/log", "--timeout=60s");
      const claims = await instance.kubectl(
        "get",
        "persistentvolumeclaims",
        "-o",
        "jsonpath={range .items[*]}{.metadata.name} {.status.phase} {.spec.storageClassName},{end}",
      );
      assert.equal(claims, "data-log-0 Bound local-path,data-log-1 Bound local-path,");
      if (runtime === "simulated") {
        assert.deepEqual(await directories(), []);
        return;
      }
      const [directory = ""] = (await directories()).filter((name) => name.endsWith("_default_data-log-0"));
      const log = path.join(instance.dataDir, "volumes", directory, "log");
      await until(async () => ((await readFile(log, "utf8").catch(() => "")) === "log-0 started\n" ? true : undefined), "a line of the first pod");
      const uid = await instance.kubectl("get", "pod", "log-0", "-o", "jsonpath={.metadata.uid}");
      await instance.kubectl("delete", "pod", "log-0");
      await until(async () => ((await readFile(log, "utf8")) === "log-0 started\nlog-0 started\n" ? true : undefined), "a line of the second pod");
      assert.deepEqual((await readdir(path.join(instance.dataDir, "kubelet", "pods"))).includes(uid), false);
      await instance.kubectl("delete", "statefulset", "log");
      await instance.kubectl("wait", "--for=delete", "pod", "-l", "app=log", "--timeout=60s");
      assert.equal((await directories()).length, 2);
      await instance.kubectl("delete", "persistentvolumeclaim", "data-log-0");
      await until(async () => ((await directories()).length === 1 ? true : undefined), "the directory to go");
      const left = await instance.kubectl("get", "persistentvolumes", "-o", "jsonpath={.items[*].spec.claimRef.name}");
      assert.equal(left, "data-log-1");
    });
  });
}
