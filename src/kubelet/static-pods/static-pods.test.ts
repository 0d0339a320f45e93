import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/core-v1/types.ts";
import { planMirrors } from "./mirror-plan.ts";
import { isMirrorPod, isStaticPod, readStaticPods } from "./static-pod.ts";
import type { Manifest } from "./static-pod.ts";

const manifest = (text: string, source: Manifest["source"] = "file"): Manifest => ({ bytes: Buffer.from(text), origin: "/etc/pods/web.yaml", source });
const plain = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: nginx}]}\n";
const read = (text: string) => readStaticPods(manifest(text), "n1", 1000);

test("a static pod bears the node's name, the defaults of the API, and where it comes from", () => {
  const [pod] = read(plain);
  equal(pod?.metadata.name, "web-n1");
  equal(pod?.metadata.namespace, "default");
  equal(pod?.spec?.nodeName, "n1");
  equal(pod?.spec?.restartPolicy, "Always");
  equal(pod?.spec?.containers?.[0]?.imagePullPolicy, "Always");
  equal(pod?.status?.qosClass, "BestEffort");
  deepEqual(pod?.spec?.tolerations, [{ operator: "Exists", effect: "NoExecute" }]);
  deepEqual(pod?.metadata.annotations, {
    "kubernetes.io/config.hash": pod?.metadata.uid,
    "kubernetes.io/config.seen": "1970-01-01T00:00:01.000000Z",
    "kubernetes.io/config.source": "file",
  });
  equal(isStaticPod(pod!), true);
});

test("what a file says is what makes the pod: the same text the same pod, another text another", () => {
  const uidOf = (text: string) => read(text)[0]?.metadata.uid;
  equal(uidOf(plain), uidOf(plain));
  equal(uidOf(plain) === uidOf(plain.replace("nginx", "nginx:2")), false);
});

test("an address may give a list", () => {
  const list = JSON.stringify({
    apiVersion: "v1",
    kind: "PodList",
    items: ["a", "b"].map((name) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "i" }] } })),
  });
  deepEqual(
    readStaticPods(manifest(list, "http"), "n1", 0).map(({ metadata }) => metadata.name),
    ["a-n1", "b-n1"],
  );
});

const refused: [name: string, text: string, message: RegExp][] = [
  ["no Pod", plain.replace("kind: Pod", "kind: Node"), /expected a Pod or PodList of v1, not Node of v1/],
  ["no name", plain.replace("name: web", "generateName: web"), /metadata\.name: Required value/],
  [
    "what the rules for pods refuse",
    plain.replace("name: c,", "name: c, stdinOnce: true, ports: [{containerPort: 0}],"),
    /spec\.containers\[0\]\.ports\[0\]\.containerPort: Required value/,
  ],
  ["a secret", plain.replace("spec: {", "spec: {volumes: [{name: v, secret: {secretName: s}}], "), /static pods may not reference secrets/],
  ["a service account", plain.replace("spec: {", "spec: {serviceAccountName: x, "), /static pods may not reference serviceaccounts/],
  [
    "a claim",
    plain.replace("spec: {", "spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: s}}], "),
    /static pods may not reference persistentvolumeclaims/,
  ],
  ["no YAML", "{", /web\.yaml: /],
];
for (const [name, text, message] of refused) test(`static pods refused: ${name}`, () => throws(() => read(text), message));

const node = { name: "n1", uid: "node-uid" };
const [web] = read(plain);
const plan = (statics: readonly Pod[], mirrors: readonly Pod[], busy = false) =>
  planMirrors({ statics, mirrors, node, isBusy: () => busy }).map(({ kind, pod }) => `${kind} ${pod.metadata.name}`);
const [step] = planMirrors({ statics: [web!], mirrors: [], node, isBusy: () => false });
const mirror: Pod = { ...step!.pod, metadata: { ...step!.pod.metadata, uid: "m" } } as Pod;

test("a mirror says what it mirrors, belongs to the node, and is no static pod", () => {
  equal(mirror.metadata.annotations?.["kubernetes.io/config.mirror"], web?.metadata.uid);
  deepEqual(mirror.metadata.ownerReferences, [{ apiVersion: "v1", kind: "Node", name: "n1", uid: "node-uid", controller: true }]);
  deepEqual([isMirrorPod(mirror), isStaticPod(mirror)], [true, false]);
});

const mirrors: [name: string, statics: Pod[], known: Pod[], isBusy: boolean, expected: string[]][] = [
  ["none yet", [web!], [], false, ["create web-n1"]],
  ["as it should be", [web!], [mirror], false, []],
  [
    "of an older text",
    [web!],
    [{ ...mirror, metadata: { ...mirror.metadata, annotations: { "kubernetes.io/config.mirror": "old" } } }],
    false,
    ["delete web-n1"],
  ],
  ["being deleted by somebody", [web!], [{ ...mirror, metadata: { ...mirror.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }], true, ["delete web-n1"]],
  ["of the node's former object", [web!], [{ ...mirror, metadata: { ...mirror.metadata, ownerReferences: [] } }], false, ["delete web-n1"]],
  ["of a pod that is gone", [], [mirror], false, ["delete web-n1"]],
  ["of a pod that is still ending", [], [mirror], true, []],
];
for (const [name, statics, known, isBusy, expected] of mirrors) test(`mirror: ${name}`, () => deepEqual(plan(statics, known, isBusy), expected));
