import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { defaultSettings } from "../configuration/settings.ts";
import { mustVerify, PullRecords } from "./pull-records.ts";
import type { PullCredential } from "./pull-secrets.ts";

const policies: [policy: string, repository: string, wasPulled: boolean, verified: boolean][] = [
  ["NeverVerify", "r/app", true, false],
  ["NeverVerifyPreloadedImages", "r/app", false, false],
  ["NeverVerifyPreloadedImages", "r/app", true, true],
  ["NeverVerifyAllowlistedImages", "r/app", true, true],
  ["NeverVerifyAllowlistedImages", "r/free", true, false],
  ["NeverVerifyAllowlistedImages", "r/team/app", false, false],
  ["AlwaysVerify", "r/app", false, true],
];
for (const [policy, repository, wasPulled, verified] of policies)
  test(`credentials are looked at: ${policy} ${repository} ${wasPulled ? "pulled" : "brought along"}`, () =>
    equal(
      mustVerify(repository, wasPulled, { imagePullCredentialsVerificationPolicy: policy, preloadedImagesVerificationAllowlist: ["r/free", "r/team/*"] }),
      verified,
    ));

const image = { repository: "r/app", image: "r/app:v1", id: "sha256:1" };
const secret = (name: string, password: string, uid = name): PullCredential => ({
  auth: { username: "u", password },
  secret: { uid, namespace: "default", name },
});

test("an image that was pulled with a secret is for those who have it or what it says; after a restart, too", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "records-"));
  context.after(() => rm(directory, { recursive: true }));
  const open = () => new PullRecords({ directory, settings: defaultSettings, clock: new VirtualClock(), log: silentLog });
  const records = open();
  equal(await records.mayUse(image, []), true, "brought along");
  await records.beginPull(image.image);
  equal(await open().mayUse(image, []), false, "a pull was cut off");
  await records.pulled(image, secret("a", "1"));
  await records.endPull(image.image);
  const may = async (...credentials: PullCredential[]) => open().mayUse(image, credentials);
  deepEqual(
    [await may(), await may(secret("b", "2")), await may(secret("b", "1")), await may(secret("a", "changed")), await may(secret("a", "2", "another uid"))],
    [false, false, true, true, false],
  );
  deepEqual([await records.mayUse({ ...image, repository: "other/app" }, [secret("a", "1")]), await readdir(join(directory, "pulling"))], [false, []]);
  await records.pulled(image, undefined);
  equal(await may(), true, "the registry wants nothing any more");
  const [file] = await readdir(join(directory, "pulled"));
  deepEqual(JSON.parse(await readFile(join(directory, "pulled", file!), "utf8")), {
    kind: "ImagePulledRecord",
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    lastUpdatedTime: "2026-01-01T00:00:00Z",
    imageRef: "sha256:1",
    credentialMapping: { "r/app": { nodePodsAccessible: true } },
  });
  await writeFile(join(directory, "pulled", file!), "{");
  equal(await may(secret("a", "1")), false, "damaged");
  await records.prune(new Set(["sha256:2"]));
  deepEqual([await readdir(join(directory, "pulled")), await may()], [[], true]);
});
