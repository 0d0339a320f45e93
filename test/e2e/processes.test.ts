/** Pods as local processes of an ordinary user. */
import assert from "node:assert/strict";
import { chmod, chown, mkdir } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until } from "./instance.ts";

const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");
const args = ["--port", "16444", "--runtime", "process", "--kubelet.port=16251"];
/** The user `nobody`, when the test itself runs as root. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined;

/** A command line that prints what the address answers, an expression over `env`. */
const fetchThere = (url: string) => `'${process.execPath}' -e 'const { env } = process; fetch(${url}).then((r) => r.text()).then(console.log)'`;

describe("local processes", () => {
  let instance: Instance;
  let server: Awaited<ReturnType<Instance["start"]>>;
  before(async () => {
    instance = await Instance.create();
    await chmod(path.dirname(instance.dataDir), 0o755);
    await mkdir(instance.dataDir);
    if (uid !== undefined) {
      await chown(path.dirname(instance.dataDir), uid, uid);
      await chown(instance.dataDir, uid, uid);
    }
    server = await instance.start({ args, ...(uid !== undefined && { uid }) });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });

  test("apply, update, undo, logs and exec work, and the node port answers", async () => {
    await instance.kubectl("apply", "-f", hello);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    const nodePort = await instance.kubectl("get", "service", "hello", "-o", "jsonpath={.spec.ports[0].nodePort}");
    assert.match(await instance.fetch(`http://127.0.0.1:${nodePort}/`), /^hello v1 from hello-/);
    await instance.kubectl("set", "image", "deployment/hello", "hello=coracle.local/hello:v2");
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    assert.match(await instance.fetch(`http://127.0.0.1:${nodePort}/`), /^hello v2/);
    await instance.kubectl("rollout", "undo", "deployment/hello");
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    assert.match(await instance.kubectl("logs", "deployment/hello"), /hello v1 listens/);
    const inPod = (script: string) => instance.kubectl("exec", "deployment/hello", "--", "sh", "-c", script);
    // A pod finds a Service, and the API server with a certificate that is good for it, by the variables.
    assert.match(await inPod(fetchThere("`http://${env.HELLO_SERVICE_HOST}:${env.HELLO_SERVICE_PORT}`")), /^hello v1 from hello-/);
    const version = fetchThere("`https://${env.KUBERNETES_SERVICE_HOST}:${env.KUBERNETES_SERVICE_PORT}/version`");
    const authority = "$CORACLE_ROOT/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
    assert.match(await inPod(`NODE_EXTRA_CA_CERTS=${authority} ${version}`), /"gitVersion": "v1\.37/);
    assert.match(await instance.kubectl("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[0].status.podIP}"), /^127\./);
  });

  test("processes outlive kill -9 of the server and are taken over", async () => {
    const containers = () =>
      instance.kubectl(
        "get",
        "pods",
        "-l",
        "app=hello",
        "-o",
        "jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}{'\\n'}{end}",
      );
    await until(
      async () => ((await instance.kubectl("get", "pods", "-l", "app=hello", "-o", "name")).split("\n").length === 3 ? true : undefined),
      "three pods",
    );
    const before = await containers();
    await instance.end(server, "SIGKILL");
    server = await instance.start({ args, ...(uid !== undefined && { uid }) });
    await instance.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=hello", "--timeout=60s");
    assert.equal(await containers(), before);
  });
});
