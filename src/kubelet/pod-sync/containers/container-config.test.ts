import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, PodSecurityContext } from "../../../api/core-v1/types.ts";
import { noAdditions } from "../../managers/container-additions.ts";
import type { Image } from "../../runtime/cri-messages.ts";
import { attemptAfterLogs, containerConfig } from "./container-config.ts";

const configOf = (container: Partial<Container>, securityContext: PodSecurityContext = {}, image: Partial<Image> = {}) => {
  const own = { name: "c", ...container };
  return containerConfig({
    pod: { metadata: { name: "p", namespace: "n", uid: "u" }, spec: { securityContext, containers: [own] } },
    spec: { kind: "containers", container: own },
    attempt: 0,
    image: { id: "i", username: "", ...image } as Image,
    imageReference: "i",
    environment: new Map([["A", "x"]]),
    mounts: [],
    devices: [],
    additions: noAdditions,
    groups: [],
    memoryCapacityBytes: 1 << 30,
  });
};

const commands: [title: string, container: Partial<Container>, command: string[], args: string[]][] = [
  ["the image's own", {}, [], []],
  ["arguments alone", { args: ["$(A)", "$$(A)"] }, [], ["x", "$(A)"]],
  ["a command alone", { command: ["sh", "-c", "echo $(A) $(B)"] }, ["sh", "-c", "echo x $(B)"], []],
  ["both", { command: ["$(A)"], args: ["a b"] }, ["x"], ["a b"]],
];
for (const [title, container, command, args] of commands) {
  test(`command line asked of the runtime: ${title}`, () => {
    const config = configOf(container);
    assert.deepEqual([config.command, config.args], [command, args]);
  });
}

const users: [title: string, own: Container["securityContext"], shared: PodSecurityContext, image: Partial<Image>, expected: string][] = [
  ["the image's", {}, {}, { uid: { value: 7 } }, "7:"],
  ["the pod's", {}, { runAsUser: 1, runAsGroup: 2 }, { uid: { value: 7 } }, "1:2"],
  ["the container's", { runAsUser: 3, runAsGroup: 4 }, {}, {}, "3:4"],
  ["the container's before the pod's", { runAsUser: 3, runAsGroup: 4 }, { runAsUser: 1, runAsGroup: 2 }, {}, "3:4"],
  ["the container's user, the pod's group", { runAsUser: 3 }, { runAsGroup: 2 }, {}, "3:2"],
];
for (const [title, own, shared, image, expected] of users) {
  test(`user asked of the runtime: ${title}`, () => {
    const { run_as_user: user, run_as_group: group } = configOf({ securityContext: own ?? {} }, shared, image).linux!.security_context!;
    assert.equal(`${user?.value ?? ""}:${group?.value ?? ""}`, expected);
  });
}

test("the restart count of a container that the runtime forgot goes on from its logs", () => {
  assert.equal(attemptAfterLogs([]), 0);
  assert.equal(attemptAfterLogs(["0.log", "0.log.20261201-050607", "lost+found"]), 1);
  assert.equal(attemptAfterLogs(["9.log.20261201-050607.gz", "10.log", "2.log"]), 11);
});
