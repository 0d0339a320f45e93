import { deepEqual, equal, throws } from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { startPrograms } from "../../host/index.ts";
import { CredentialProviders, readCredentialProviders } from "./credential-providers.ts";

const version = "credentialprovider.kubelet.k8s.io/v1";
const provider = {
  name: "helper",
  matchImages: ["*.example.com/team"],
  defaultCacheDuration: "1m",
  apiVersion: version,
  args: ["x"],
  env: [{ name: "WHO", value: "me" }],
};
const config = (more: object = {}) =>
  ({ apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers: [{ ...provider, ...more }] }) as never;

const refused: [more: object, message: RegExp][] = [
  [{ name: "../sh" }, /names a provider "\.\.\/sh"/],
  [{ matchImages: [] }, /wants matchImages and defaultCacheDuration of helper/],
  [{ apiVersion: "v0" }, /asks for API version "v0" of helper/],
];
for (const [more, message] of refused)
  test(`credential providers refused: ${message.source}`, () => throws(() => readCredentialProviders(config(more)), message));

test("a provider is asked for images it matches, and its answer holds as long as it says", async () => {
  const directory = await mkdtemp(join(tmpdir(), "coracle-provider-"));
  const programs = await startPrograms({ clock: systemClock() });
  try {
    const script = `#!/bin/sh\ncat >> ${directory}/asked; echo " $1 $WHO" >> ${directory}/asked\necho '{"kind":"CredentialProviderResponse","apiVersion":"${version}","cacheKeyType":"Registry","auth":{"a.example.com":{"username":"u","password":"p"},"b.example.com":{"username":"no"}}}'\n`;
    await writeFile(join(directory, "helper"), script);
    await chmod(join(directory, "helper"), 0o755);
    const clock = new VirtualClock();
    const providers = new CredentialProviders({
      providers: readCredentialProviders(config()),
      directory,
      programs,
      environment: { PATH: process.env["PATH"] ?? "" },
      clock,
      log: silentLog,
    });
    const { signal } = new AbortController();
    const ask = (name: string) => providers.credentials(`${name}:1`, name, signal);
    deepEqual(await ask("a.example.com/other/app"), []);
    deepEqual(await ask("a.example.com/team/app"), [{ username: "u", password: "p" }]);
    deepEqual(await ask("a.example.com/team/second"), [{ username: "u", password: "p" }]);
    const asked = () => readFile(join(directory, "asked"), "utf8");
    equal(await asked(), `{"kind":"CredentialProviderRequest","apiVersion":"${version}","image":"a.example.com/team/app:1"} x me\n`);
    await clock.advance(60_001, async () => undefined);
    await ask("a.example.com/team/app");
    equal((await asked()).split("\n").length, 3);
    await writeFile(join(directory, "helper"), "#!/bin/sh\nexit 3\n");
    await clock.advance(60_001, async () => undefined);
    deepEqual(await ask("a.example.com/team/app"), []);
  } finally {
    await programs.close();
    await rm(directory, { recursive: true });
  }
});
