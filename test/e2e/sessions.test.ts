/** exec, logs and port-forward as kubectl runs them, over WebSocket and SPDY, into containers and local processes. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, whyNoContainers } from "./instance.ts";

const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");
const runtimes = [
  {
    name: "sessions in containers",
    skip: (await whyNoContainers()) ?? false,
    args: ["--runtime", "containerd", "--port", "16454", "--pod-cidr", "10.215.0.0/16", "--service-cidr", "10.216.0.0/16", "--kubelet.port=16263"],
    forwarded: 16_456,
  },
  { name: "sessions in local processes", skip: false, args: ["--runtime", "process", "--port", "16455", "--kubelet.port=16264"], forwarded: 16_457 },
];
const protocols = [
  { protocol: "WebSocket", env: {} },
  { protocol: "SPDY", env: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" } },
];

for (const { name, skip, args, forwarded } of runtimes) {
  describe(name, { skip }, () => {
    let instance: Instance;
    before(async () => {
      instance = await Instance.create();
      await instance.start({ args });
      await instance.kubectl("apply", "-f", hello);
      await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    });
    after(async () => {
      await instance[Symbol.asyncDispose]();
    });

    for (const { protocol, env } of protocols) {
      test(`exec with a terminal, over ${protocol}`, async () => {
        await using shell = instance.startKubectl(["exec", "-it", "deployment/hello", "--", "sh"], { hasTerminal: true, env });
        shell.write("echo $((40 + 2)) on $(tty)\n");
        await shell.saw(/42 on \/dev\/pts\/\d+\r$/m);
        shell.write("exit 3\n");
        assert.equal(await shell.ended(), 3);
        assert.match(shell.output, /command terminated with exit code 3/);
      });

      test(`exec with input and without a terminal, over ${protocol}`, async () => {
        await using shell = instance.startKubectl(["exec", "-i", "deployment/hello", "--", "sh", "-c", "read line && echo got $line && echo oops >&2"], {
          env,
        });
        shell.write("a line\n");
        await shell.saw(/^got a line$/m);
        await shell.saw(/^oops$/m);
        assert.equal(await shell.ended(), 0);
      });

      test(`port-forward to a Service and to a pod, over ${protocol}`, async () => {
        const pod = await instance.kubectl("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[0].metadata.name}");
        for (const [target, port] of [
          ["service/hello", "http"],
          [`pod/${pod}`, "8080"],
        ] as const) {
          await using forward = instance.startKubectl(["port-forward", target, `${forwarded}:${port}`], { env });
          await forward.saw(/Forwarding from 127\.0\.0\.1:\d+ -> 8080/);
          for (let round = 0; round < 3; round++) assert.match(await instance.fetch(`http://127.0.0.1:${forwarded}/`), /^hello v1 from hello-/);
        }
      });
    }

    test("logs that are followed show a line when it is written, and end with the pod", async () => {
      await instance.kubectl(
        "run",
        "talker",
        "--image=coracle.local/hello:v1",
        "--restart=Never",
        "--command",
        "--",
        "sh",
        "-c",
        "echo first; while [ ! -e go ]; do sleep 0.1; done; echo second",
      );
      await instance.kubectl("wait", "--for=condition=Ready", "pod/talker", "--timeout=60s");
      await using logs = instance.startKubectl(["logs", "-f", "talker"]);
      await logs.saw(/^first$/m);
      await instance.kubectl("exec", "talker", "--", "touch", "go");
      assert.equal(await logs.ended(), 0);
      assert.equal(logs.output, "first\nsecond\n");
      assert.equal(await instance.kubectl("get", "pod", "talker", "-o", "jsonpath={.status.phase}"), "Succeeded");
    });
  });
}
