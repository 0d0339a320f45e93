/** Classes of past mistakes on nodes that a function alone decides; those that take mounts and namespaces stand beside their code (docs/security.md). */
import { test } from "node:test";
import { deepEqual, equal, match, throws } from "node:assert/strict";
import type { Container, Pod } from "../../src/api/core-v1/types.ts";
import { readLastWords } from "../../src/kubelet/pod-sync/last-words.ts";
import { containerSecurityContext, runAsNonRootFault, sandboxSecurityContext } from "../../src/kubelet/resources/security-context.ts";

const podOf = (spec: object): Pod => ({ metadata: { name: "p", namespace: "n", uid: "u" }, spec: { containers: [], ...spec } }) as Pod;
const container = (securityContext: object = {}) => ({ name: "c", securityContext }) as Container;

test("security: a seccomp profile of the node without a name starts nothing", () => {
  for (const seccompProfile of [{ type: "Localhost" }, { type: "Localhost", localhostProfile: "" }]) {
    throws(() => containerSecurityContext(podOf({}), container({ seccompProfile })), /^Error: localhostProfile must be set if seccompProfile type is Localhost\.$/);
    throws(() => sandboxSecurityContext(podOf({ securityContext: { seccompProfile } })), /localhostProfile must be set/);
  }
  deepEqual(containerSecurityContext(podOf({}), container({ seccompProfile: { type: "Localhost", localhostProfile: "a.json" } })).seccomp, { profile_type: "Localhost", localhost_ref: "a.json" });
});

test("security: who must not be root is asked for at every start", () => {
  const nonRoot = container({ runAsNonRoot: true });
  const table: [say: string, container: Container, image: { uid?: number; username: string }, fault: RegExp | undefined][] = [
    ["an image of root", nonRoot, { username: "" }, /image will run as root/],
    ["an image of uid 0", nonRoot, { uid: 0, username: "" }, /image will run as root/],
    ["an image that names its user", nonRoot, { username: "app" }, /non-numeric user \(app\)/],
    ["an image of another user", nonRoot, { uid: 5, username: "" }, undefined],
    ["a pod that asks for root", container({ runAsNonRoot: true, runAsUser: 0 }), { uid: 5, username: "" }, /runAsUser breaks non-root policy/],
  ];
  for (const [say, asked, image, fault] of table) {
    const found = runAsNonRootFault(podOf({}), asked, image);
    if (fault === undefined) equal(found, undefined, say);
    else match(found ?? "", fault, say);
  }
  match(runAsNonRootFault(podOf({ securityContext: { runAsNonRoot: true } }), container(), { username: "" }) ?? "", /as root/, "the pod's own rule counts where the container says nothing");
});

test("security: a message left by a container is read to a limit", async () => {
  const asked: number[] = [];
  const storage = { readEnd: async (_path: string, bytes: number) => (asked.push(bytes), "x".repeat(bytes)) };
  const status = { annotations: { "io.kubernetes.container.terminationMessagePath": "/m", "io.kubernetes.container.terminationMessagePolicy": "File" }, mounts: [{ container_path: "/m", host_path: "/host/m" }], exit_code: 1, log_path: "" };
  const message = await readLastWords(storage as unknown as Parameters<typeof readLastWords>[0], status as unknown as Parameters<typeof readLastWords>[1]);
  deepEqual([message.length, asked], [4096, [4096]]);
});
