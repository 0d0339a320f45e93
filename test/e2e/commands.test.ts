/** `coracle up --detach`, `status`, `logs`, `image`, `down`, `reset`: what they say, and what remains after each. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, runCoracle, until, whyNoContainers } from "./instance.ts";

const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");

describe("the commands, with simulated pods", () => {
  let instance: Instance;
  const up = () => runCoracle(["up", "--detach", "--data-dir", instance.dataDir, "--runtime", "simulated", "--port", "16461", "--kubelet.port=16269"]);
  before(async () => {
    instance = await Instance.create();
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });

  test("status before anything was made", async () => {
    assert.match(await instance.coracle("status"), /^process +not running$.*^kubeconfig +not made$/ms);
    assert.equal(existsSync(instance.dataDir), false);
  });

  test("up in the background: returns when it is ready, and goes on", async () => {
    const { code, stdout } = up();
    assert.equal(code, 0);
    const [, pid] = /^Kubernetes is ready \(process (\d+)\)\.\n\n {2}export KUBECONFIG=\S+\/kubeconfig\n$/.exec(stdout) ?? [];
    assert.equal(await instance.kubectl("get", "--raw", "/readyz"), "ok");
    assert.match(await instance.coracle("status"), new RegExp(`^process +${pid}$`, "m"));
    assert.match(await instance.coracle("status"), /^server +https:\/\/127\.0\.0\.1:16461$/m);
    assert.equal(await instance.coracle("kubeconfig"), path.join(instance.dataDir, "kubeconfig"));
    assert.match(await instance.coracle("logs"), /Runtime for pods runtime=simulated/);
  });

  test("status --security: every control holds on a default start, and exit code 1 tells when one does not", async () => {
    await instance.kubectl("wait", "--for=condition=Ready", "nodes", "--all", "--timeout=30s");
    assert.match(await instance.coracle("status", "--security"), /^PASS +4\.2\.1 .*^27 passed, 0 failed, 5 to review$/ms);
    await instance.kubectl("create", "clusterrolebinding", "open", "--clusterrole=cluster-admin", "--user=system:anonymous");
    const { code, stdout } = runCoracle(["status", "--security", "--data-dir", instance.dataDir]);
    assert.equal(code, 1);
    assert.match(stdout, /^FAIL +1\.2\.1 .*anyone may list secrets/m);
    await instance.kubectl("delete", "clusterrolebinding", "open");
  });

  test("down ends it and keeps the data; up goes on from there", async () => {
    await instance.kubectl("create", "configmap", "kept", "--from-literal=a=1");
    assert.equal(await instance.coracle("down"), `Stopped ${instance.dataDir}.`);
    assert.match(await instance.coracle("status"), /^process +not running$/m);
    await assert.rejects(instance.kubectl("get", "--raw", "/readyz"), /refused/);
    assert.equal(await instance.coracle("down"), `Stopped ${instance.dataDir}.`);
    assert.equal(up().code, 0);
    assert.equal(await instance.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}"), "1");
  });

  test("reset ends it and removes the data", async () => {
    assert.equal(await instance.coracle("reset"), `Removed ${instance.dataDir} and all that it ran.`);
    assert.equal(existsSync(instance.dataDir), false);
    assert.equal(await instance.coracle("reset"), `Nothing of ours lies at ${instance.dataDir}.`);
  });

  test("help: every command has its line, and options where it has some", async () => {
    const { stdout } = runCoracle(["help"]);
    for (const [, command] of stdout.matchAll(/^ {2}(\S+)/gm)) assert.match(runCoracle(["help", command!]).stdout, new RegExp(`^coracle ${command}: `));
    assert.equal(runCoracle(["up", "--help"]).stdout, runCoracle(["help", "up"]).stdout);
  });
});

describe("the commands, with containers", { skip: (await whyNoContainers()) ?? false }, () => {
  let instance: Instance;
  const up = () =>
    runCoracle([
      "up",
      "--detach",
      "--data-dir",
      instance.dataDir,
      "--runtime",
      "containerd",
      "--port",
      "16462",
      "--pod-cidr",
      "10.223.0.0/16",
      "--service-cidr",
      "10.224.0.0/16",
      "--kubelet.port=16270",
    ]);
  before(async () => {
    instance = await Instance.create();
    assert.equal(up().code, 0);
    // At once: containerd serves a little later than the API does.
    await instance.coracle("image", "ls");
    await instance.kubectl("apply", "-f", hello);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });
  const idOf = async () => /^instance +(\w+)$/m.exec(await instance.coracle("status"))![1]!;

  test("image ls, load and rm", async () => {
    assert.match(await instance.coracle("image", "ls"), /^coracle\.local\/hello:v1$/m);
    await assert.rejects(instance.coracle("image", "load", path.join(instance.dataDir, "nothing.tar")), /^Error: [^]*\ncoracle: .*nothing\.tar/);
    await instance.coracle("image", "rm", "coracle.local/hello:v2");
    await assert.rejects(
      instance.coracle("image", "rm", "coracle.local/hello:v2"),
      /\ncoracle: there is no image coracle\.local\/hello:v2: `coracle image ls` lists them/,
    );
    assert.doesNotMatch(await instance.coracle("image", "ls"), /hello:v2/);
  });

  test("down ends the pods, too; up starts them again", async () => {
    const id = await idOf();
    assert.ok(processesOf(id).length > 0);
    const names = () => instance.kubectl("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[*].metadata.name}");
    const before = await names();
    await instance.coracle("down");
    assert.deepEqual(processesOf(id), []);
    assert.equal(up().code, 0);
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    await instance.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=hello", "--timeout=60s");
    assert.equal(await names(), before);
    // What the server says of them may be from before for a moment.
    const restarts = () => instance.kubectl("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[*].status.containerStatuses[*].restartCount}");
    await until(async () => (/^1( 1)*$/.test(await restarts()) ? true : undefined), "the containers to be counted as started anew");
  });

  test("reset leaves nothing: containers, mounts, interfaces, nftables tables, control groups, directories", async () => {
    const id = await idOf();
    const containers = (await instance.kubectl("get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[0].containerID}"))
      .replaceAll("containerd://", "")
      .split(" ");
    const present = remains(id, instance.dataDir, containers);
    assert.deepEqual(
      Object.entries(present).filter(([, found]) => found.length === 0),
      [],
      "what is looked for is there while it runs",
    );
    await instance.coracle("reset");
    assert.deepEqual(remains(id, instance.dataDir, containers), nothing);
  });

  test("reset leaves nothing of a containerd that died and forgot what it ran, either", async () => {
    assert.equal(up().code, 0);
    await instance.kubectl("apply", "-f", hello);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    const id = await idOf();
    process.kill(Number(readFileSync(path.join(instance.dataDir, "coracle.pid"), "utf8").split(" ")[0]), "SIGKILL");
    process.kill(Number(readFileSync(path.join(instance.dataDir, "containerd.pid"), "utf8")), "SIGKILL");
    rmSync(path.join(instance.dataDir, "containerd"), { recursive: true });
    await instance.coracle("reset");
    assert.deepEqual(remains(id, instance.dataDir, []), nothing);
  });
});

const nothing = { processes: [], mounts: [], interfaces: [], tables: [], controlGroups: [], directories: [] };

function remains(id: string, dataDir: string, containerIds: readonly string[]) {
  const lines = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: "utf8" }).split("\n");
  return {
    processes: processesOf(id),
    // Pods' network namespaces are mounts as well.
    mounts: readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${dataDir}/`) || line.includes(`/run/coracle/${id}`)),
    interfaces: lines("ip", "-oneline", "link").filter((line) => line.includes(`cor-${id}`)),
    tables: lines("nft", "list", "tables").filter((line) => line.includes(id)),
    controlGroups: [...containerIds.flatMap((container) => globSync(`/sys/fs/cgroup/**/*${container}*`)), ...globSync(`/sys/fs/cgroup/{,*/}coracle-${id}`)],
    directories: [dataDir, `/run/coracle/${id}`].filter((directory) => existsSync(directory)),
  };
}

/** Command lines that name the instance's sockets: containerd and the shims of its pods. */
function processesOf(id: string): string[] {
  const texts = globSync("/proc/[0-9]*/cmdline").map((file) => {
    try {
      return readFileSync(file, "utf8").replaceAll("\0", " ");
    } catch {
      return "";
    }
  });
  return texts.filter((text) => text.includes(`/run/coracle/${id}`) || text.includes(`coracle-${id}`));
}
