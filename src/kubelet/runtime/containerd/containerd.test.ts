import assert from "node:assert/strict";
import { test } from "node:test";
import { containerdToml } from "./containerd-config.ts";
import { parseResult } from "./spdy-sessions.ts";

const results: [text: string, expected: object][] = [
  [`{"metadata":{},"status":"Success"}`, { outcome: "success" }],
  [
    `{"metadata":{},"status":"Failure","message":"command terminated","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`,
    { outcome: "exited", exitCode: 3, message: "command terminated" },
  ],
  [`{"status":"Failure","message":"no","reason":"InternalError","details":{"causes":[{"message":"no"}]},"code":500}`, { outcome: "failed", message: "no" }],
  ["plain words", { outcome: "failed", message: "plain words" }],
  ["", { outcome: "failed", message: "the connection to the container runtime was lost" }],
];
for (const [text, expected] of results) test(`result of a remote command: ${text.slice(0, 40)}`, () => assert.deepEqual(parseResult(text), expected));

test("the configuration of our containerd", () => {
  const text = containerdToml({
    socketPath: "/run/c/containerd.sock",
    rootDirectory: "/data/root",
    stateDirectory: "/run/c/state",
    sandboxImage: "coracle.local/pause:1",
    snapshotter: "overlayfs",
    cniBinDirectory: "/usr/lib/cni",
    cniConfDirectory: "/data/cni",
    registryConfigDirectory: "/data/registries",
    restrictOomScoreAdj: true,
  });
  assert.match(text, /^version = 2\nroot = "\/data\/root"\n/);
  assert.match(text, /\[plugins\."io\.containerd\.grpc\.v1\.cri"\]\nsandbox_image = "coracle\.local\/pause:1"\nrestrict_oom_score_adj = true\n/);
  assert.match(text, /\[plugins\."io\.containerd\.grpc\.v1\.cri"\.cni\]\nbin_dir = "\/usr\/lib\/cni"\nconf_dir = "\/data\/cni"\n/);
});
