import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { Secret } from "../../api/core-v1/types.ts";
import { createSimulatedRuntime } from "../runtime/simulated.ts";
import { ImagePuller } from "./image-puller.ts";
import type { EnsureResult } from "./image-puller.ts";
import { pullCredentials } from "./pull-secrets.ts";

type Try = { image: string; policy?: string; broken?: boolean };

const table: [name: string, tries: Try[], expected: string][] = [
  ["not there", [{ image: "web:1" }], "Pulling,Pulled present"],
  ["there", [{ image: "web:1" }, { image: "web:1" }], "Pulling,Pulled present; Pulled present"],
  ["there, but Always", [{ image: "web:1" }, { image: "web:1", policy: "Always" }], "Pulling,Pulled present; Pulling,Pulled present"],
  ["Never", [{ image: "web:1", policy: "Never" }], "ErrImageNeverPull ErrImageNeverPull"],
  ["a bad name", [{ image: "Web:1" }], "InspectFailed InvalidImageName"],
  [
    "failing, then held back",
    [
      { image: "web:1", broken: true },
      { image: "web:1", broken: true },
    ],
    "Pulling,Failed ErrImagePull; BackOff ImagePullBackOff",
  ],
];
for (const [name, tries, expected] of table) {
  test(`image: ${name}`, async () => {
    const clock = new VirtualClock();
    const puller = new ImagePuller({ images: createSimulatedRuntime({ clock, random: seededRandom(1) }), clock });
    const outcomes: string[] = [];
    for (const { image, policy, broken } of tries) {
      const told: string[] = [];
      const ensuring = puller.ensure(
        {
          pod: { metadata: { name: "p", uid: "u" } },
          container: { name: "c", image, ...(policy !== undefined && { imagePullPolicy: policy }) },
          hasCommand: false,
          credentials: [],
          sandboxConfig: {
            metadata: { name: "p", namespace: "n", uid: "u", attempt: 0 },
            annotations: broken === true ? { "simulated.coracle.dev/pull": "error=no such image" } : {},
          },
          tell: (_type, reason) => told.push(reason),
        },
        new AbortController().signal,
      );
      await clock.advance(200);
      outcomes.push(`${told.join(",")} ${outcomeText(await ensuring)}`);
    }
    assert.equal(outcomes.join("; "), expected);
  });
}

test("of two that pull one image, one may leave; when both have, the pull ends", async () => {
  const clock = new VirtualClock();
  const runtime = createSimulatedRuntime({ clock, random: seededRandom(1) });
  let pulls = 0;
  let ended: unknown;
  const images = {
    ...runtime,
    pullImage: (...call: Parameters<typeof runtime.pullImage>) => {
      pulls++;
      return runtime.pullImage(...call).catch((error: unknown) => {
        ended = error;
        throw error;
      });
    },
  };
  const puller = new ImagePuller({ images, clock });
  const ensure = (signal: AbortSignal) =>
    puller.ensure(
      {
        pod: { metadata: { name: "p", uid: "u" } },
        container: { name: "c", image: "web:1" },
        hasCommand: false,
        credentials: [],
        sandboxConfig: { metadata: { name: "p", namespace: "n", uid: "u", attempt: 0 } },
        tell: () => undefined,
      },
      signal,
    );
  const [first, second] = [new AbortController(), new AbortController()];
  const leaving = assert.rejects(ensure(first.signal));
  const staying = assert.rejects(ensure(second.signal));
  await clock.advance(10);
  first.abort();
  await leaving;
  assert.equal(ended, undefined);
  second.abort();
  await staying;
  await clock.advance(0);
  assert.notEqual(ended, undefined);
  assert.equal(pulls, 1);
});

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64");
const secret: Secret = {
  metadata: { name: "s" },
  data: {
    ".dockerconfigjson": encoded({
      auths: {
        "registry.example.com/team": { auth: Buffer.from("me:pass:word").toString("base64") },
        "*.example.org": { username: "u", password: "p" },
        "https://index.docker.io/v1/": { username: "d", password: "h" },
      },
    }),
  },
};
const registries: [repository: string, user: string][] = [
  ["registry.example.com/team/app", "me/pass:word"],
  ["registry.example.com/other/app", ""],
  ["a.example.org/app", "u/p"],
  ["a.b.example.org/app", ""],
  ["docker.io/library/nginx", "d/h"],
];
for (const [repository, user] of registries) {
  test(`credentials for ${repository}`, () =>
    assert.equal(
      pullCredentials([secret], repository)
        .map(({ auth: { username, password } }) => `${username}/${password}`)
        .join(),
      user,
    ));
}

function outcomeText(result: EnsureResult): string {
  return result.outcome === "present" ? "present" : result.reason;
}
