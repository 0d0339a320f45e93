/** The main path on containerd: apply, replacement, Service, names, update, undo, crash, restart of everything. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until, whyNoContainers } from "./instance.ts";

const reason = await whyNoContainers();
const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");
const args = ["--port", "16443", "--runtime", "containerd", "--pod-cidr", "10.211.0.0/16", "--service-cidr", "10.212.0.0/16", "--kubelet.port=16250"];

describe("containers", { skip: reason ?? false }, () => {
  let instance: Instance;
  let server: Awaited<ReturnType<Instance["start"]>>;
  before(async () => {
    instance = await Instance.create();
    server = await instance.start({ args });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });
  const podNames = async () => (await instance.kubectl("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[*].metadata.name}")).split(" ");
  const serviceAddress = () => instance.kubectl("get", "service", "hello", "-o", "jsonpath={.spec.clusterIP}");

  test("three containers run, and the Service answers under its address, its name and its node port", async () => {
    await instance.kubectl("apply", "-f", hello);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    assert.equal((await podNames()).length, 3);
    assert.match(await instance.fetch(`http://${await serviceAddress()}/`), /^hello v1 from hello-/);
    const nodePort = await instance.kubectl("get", "service", "hello", "-o", "jsonpath={.spec.ports[0].nodePort}");
    const nodeAddress = await instance.kubectl("get", "nodes", "-o", "jsonpath={.items[0].status.addresses[?(@.type=='InternalIP')].address}");
    assert.match(await instance.fetch(`http://${nodeAddress}:${nodePort}/`), /^hello v1/);
    assert.match(await instance.fetch(`http://127.0.0.1:${nodePort}/`), /^hello v1/);
    const answers = await until(async () => {
      const text = await instance.kubectl("exec", "deployment/hello", "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do wget -qO- http://hello; done");
      return new Set(text.split("\n")).size === 3 ? text : undefined;
    }, "an answer of each replica");
    assert.match(answers, /hello v1/);
  });

  test("a deleted pod comes back; scaling, an update and its undoing take effect", async () => {
    const [first] = await podNames();
    await instance.kubectl("delete", "pod", first!);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    assert.ok(!(await podNames()).includes(first!));
    await instance.kubectl("set", "image", "deployment/hello", "hello=coracle.local/hello:v2");
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    assert.match(await instance.fetch(`http://${await serviceAddress()}/`), /^hello v2/);
    await instance.kubectl("rollout", "undo", "deployment/hello");
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    assert.match(await instance.fetch(`http://${await serviceAddress()}/`), /^hello v1/);
    await instance.kubectl("scale", "deployment", "hello", "--replicas=2");
    await until(async () => ((await podNames()).length === 2 ? true : undefined), "two pods");
    assert.match(await instance.kubectl("logs", "deployment/hello"), /hello v1 listens/);
  });

  test("a container that is killed starts again and counts it", async () => {
    const [name] = await podNames();
    // The first process of a container is immune to signals from inside; its child is not, and its end ends the container.
    await instance.kubectl("exec", name!, "--", "sh", "-c", "kill -9 $(pidof httpd)");
    const restarts = await until(async () => {
      const count = await instance.kubectl("get", "pod", name!, "-o", "jsonpath={.status.containerStatuses[0].restartCount}");
      return count === "0" ? undefined : count;
    }, "a restart");
    assert.equal(restarts, "1");
  });

  test("an image that cannot be pulled shows it", async () => {
    await instance.kubectl("run", "missing", "--image=registry.invalid/nothing:1");
    const shown = await until(
      async () => {
        const text = await instance.kubectl("get", "pod", "missing", "-o", "jsonpath={.status.containerStatuses[0].state.waiting.reason}");
        return text === "ErrImagePull" || text === "ImagePullBackOff" ? text : undefined;
      },
      "a pull that fails",
      60_000,
    );
    assert.match(shown, /^(ErrImagePull|ImagePullBackOff)$/);
    await instance.kubectl("delete", "pod", "missing", "--grace-period=0", "--force");
  });

  test("after kill -9 of the server the same containers go on, and nothing acknowledged is lost", async () => {
    const containers = () =>
      instance.kubectl(
        "get",
        "pods",
        "-o",
        "jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}{'\\n'}{end}",
      );
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    await instance.kubectl("create", "configmap", "written-before", "--from-literal=a=1");
    const before = await containers();
    await instance.end(server, "SIGKILL");
    server = await instance.start({ args });
    assert.equal(await instance.kubectl("get", "configmap", "written-before", "-o", "jsonpath={.data.a}"), "1");
    await instance.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=hello", "--timeout=60s");
    assert.equal(await containers(), before);
    await instance.kubectl("scale", "deployment", "hello", "--replicas=3");
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    assert.match(await instance.fetch(`http://${await serviceAddress()}/`), /^hello v1/);
  });
});
