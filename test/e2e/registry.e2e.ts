/** Images from real registries, open and closed: what pods that may pull get, and what the others are told. */
import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until, whyNoContainers, whyNoProgram } from "./instance.ts";
import { Registry, registryUser } from "./registry.ts";

const reason = (await whyNoContainers()) ?? (await whyNoProgram("docker-registry")) ?? (await whyNoProgram("openssl"));
const args = ["--port", "16463", "--runtime", "containerd", "--pod-cidr", "10.223.0.0/16", "--service-cidr", "10.224.0.0/16", "--kubelet.port=16295"];

describe("registries", { skip: reason ?? false }, () => {
  let instance: Instance;
  let folder: string;
  let open: Registry;
  let closed: Registry;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "coracle-registries-"));
    [open, closed] = await Promise.all([
      Registry.start({ folder: path.join(folder, "open") }),
      Registry.start({ folder: path.join(folder, "closed"), isSecure: true }),
    ]);
    instance = await Instance.create();
    const hosts = path.join(instance.dataDir, "registries", closed.host);
    await mkdir(hosts, { recursive: true });
    await writeFile(path.join(hosts, "hosts.toml"), `server = "https://${closed.host}"\n[host."https://${closed.host}"]\n  ca = "${closed.caPath}"\n`);
    await instance.start({ args: [...args, ...(await credentialProvider())] });
  });
  after(async () => {
    await instance?.[Symbol.asyncDispose]();
    await Promise.all([open?.stop(), closed?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  /** A program that knows the password for what lies below `provided`. */
  async function credentialProvider(): Promise<string[]> {
    const bin = path.join(folder, "bin");
    await mkdir(bin);
    const answer = {
      kind: "CredentialProviderResponse",
      apiVersion: "credentialprovider.kubelet.k8s.io/v1",
      cacheKeyType: "Image",
      auth: { [`${closed.host}/provided`]: registryUser },
    };
    await writeFile(path.join(bin, "knows"), `#!/bin/sh\ncat >> ${bin}/asked\ncat <<'END'\n${JSON.stringify(answer)}\nEND\n`);
    await chmod(path.join(bin, "knows"), 0o755);
    const provider = { name: "knows", apiVersion: answer.apiVersion, matchImages: [`${closed.host}/provided`], defaultCacheDuration: "0s" };
    await writeFile(
      path.join(folder, "providers.yaml"),
      JSON.stringify({ kind: "CredentialProviderConfig", apiVersion: "kubelet.config.k8s.io/v1", providers: [provider] }),
    );
    return [`--kubelet.image-credential-provider-config=${path.join(folder, "providers.yaml")}`, `--kubelet.image-credential-provider-bin-dir=${bin}`];
  }

  const run = (name: string, image: string, spec: Record<string, unknown> = {}, imagePullPolicy = "IfNotPresent") =>
    instance.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "c", image, imagePullPolicy, command: ["sleep", "1000000"] }], ...spec },
    });
  const ready = (name: string) => instance.kubectl("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=60s");
  /** What a pod waits for, once it is `wanted`. */
  const waiting = (name: string, wanted: string) =>
    until(
      async () => {
        const text = await instance.kubectl(
          "get",
          "pod",
          name,
          "-o",
          "jsonpath={.status.containerStatuses[0].state.waiting.reason}|{.status.containerStatuses[0].state.waiting.message}",
        );
        return text.startsWith(`${wanted}|`) ? text.slice(wanted.length + 1) : undefined;
      },
      `${wanted} of ${name}`,
      60_000,
    );
  const events = async (name: string) =>
    (
      await instance.kubectl(
        "get",
        "events",
        "--field-selector",
        `involvedObject.name=${name}`,
        "-o",
        "jsonpath={range .items[*]}{.type} {.reason} {.message}{'\\n'}{end}",
      )
    ).split("\n");
  const secret = (name: string, password: string) =>
    instance.kubectl(
      "create",
      "secret",
      "docker-registry",
      name,
      `--docker-server=${closed.host}`,
      `--docker-username=${registryUser.username}`,
      `--docker-password=${password}`,
    );

  test("an image is pulled once; Always asks again; what the registry does not have is told", async () => {
    const image = await open.pushBusybox("team/app:v1");
    await run("first", image);
    await ready("first");
    const told = await events("first");
    assert.ok(told.includes(`Normal Pulling Pulling image "${image}"`), told.join("\n"));
    const pulled = told.find((line) => line.startsWith("Normal Pulled"));
    assert.match(
      pulled ?? "",
      new RegExp(`^Normal Pulled Successfully pulled image "${image}" in [0-9.]+m?s \\([0-9.]+m?s including waiting\\)\\. Image size: \\d+ bytes\\.$`),
    );
    assert.match(
      await instance.kubectl("get", "pod", "first", "-o", "jsonpath={.status.containerStatuses[0].imageID}"),
      new RegExp(`^${open.host}/team/app@sha256:[0-9a-f]{64}$`),
    );
    await run("second", image);
    await ready("second");
    assert.ok((await events("second")).includes(`Normal Pulled Container image "${image}" already present on machine and can be accessed by the pod`));
    await run("never", image, {}, "Never");
    await ready("never");

    const missing = `${open.host}/team/app:v2`;
    await run("missing", missing);
    const text = `rpc error: code = NotFound desc = failed to pull and unpack image "${missing}": failed to resolve reference "${missing}": ${missing}: not found`;
    assert.equal(await waiting("missing", "ErrImagePull"), text);
    assert.equal(await waiting("missing", "ImagePullBackOff"), `Back-off pulling image "${missing}": ErrImagePull: ${text}`);
    const errors = await events("missing");
    for (const line of [
      `Warning Failed Failed to pull image "${missing}": ${text}`,
      "Warning Failed Error: ErrImagePull",
      `Normal BackOff Back-off pulling image "${missing}"`,
      "Warning Failed Error: ImagePullBackOff",
    ])
      assert.ok(errors.includes(line), `${line}\n${errors.join("\n")}`);
    await open.pushBusybox("team/app:v2");
    await ready("missing");

    await run("never-there", `${open.host}/team/other:v1`, {}, "Never");
    assert.equal(await waiting("never-there", "ErrImageNeverPull"), `Container image "${open.host}/team/other:v1" is not present with pull policy of Never`);
  });

  test("a registry that is down is told of, and asked again once it is up; what is there still starts", async () => {
    const image = await open.pushBusybox("down:v1");
    await open.stop();
    await run("down", image);
    assert.match(
      await waiting("down", "ErrImagePull"),
      new RegExp(`^rpc error: code = Unknown desc = failed to pull and unpack image "${image}": .*: connect: connection refused$`),
    );
    await run("there", `${open.host}/team/app:v1`);
    await ready("there");
    await run("always", `${open.host}/team/app:v1`, {}, "Always");
    await waiting("always", "ErrImagePull");
    await open.resume();
    await Promise.all([ready("down"), ready("always")]);
  });

  test("a closed registry lets in who has the password, by the pod's secret, its account's, or a program of the node", async () => {
    const image = await closed.pushBusybox("team/app:v1");
    const refused = `rpc error: code = Unknown desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": pulling from host ${closed.host} failed with status code [manifests v1]: 401 Unauthorized`;
    await run("nobody", image);
    assert.equal(await waiting("nobody", "ErrImagePull"), refused);
    await secret("wrong", "guess");
    await run("wrong", image, { imagePullSecrets: [{ name: "wrong" }] });
    assert.equal(await waiting("wrong", "ErrImagePull"), refused);
    assert.equal(await waiting("wrong", "ImagePullBackOff"), `Back-off pulling image "${image}": ErrImagePull: ${refused}`);
    await secret("right", registryUser.password);
    await run("right", image, { imagePullSecrets: [{ name: "wrong" }, { name: "right" }, { name: "absent" }] });
    await ready("right");

    const own = await closed.pushBusybox("own:v1");
    await instance.kubectl("create", "serviceaccount", "puller");
    await instance.kubectl("patch", "serviceaccount", "puller", "-p", JSON.stringify({ imagePullSecrets: [{ name: "right" }] }));
    await run("account", own, { serviceAccountName: "puller" });
    await ready("account");

    const provided = await closed.pushBusybox("provided/app:v1");
    await run("provided", provided);
    await ready("provided");
  });

  test("an image pulled with a secret is not for pods without it, even where it is there", async () => {
    const image = `${closed.host}/team/app:v1`;
    await run("thief", image);
    assert.match(await waiting("thief", "ErrImagePull"), /: 401 Unauthorized$/);
    await run("thief-never", image, {}, "Never");
    assert.equal(
      await waiting("thief-never", "ErrImageNeverPull"),
      `Container image "${image}" is present with pull policy of Never but does not have the proper credentials to access the image`,
    );
    // Who has the same credentials needs no registry.
    await closed.stop();
    await secret("same", registryUser.password);
    await run("same", image, { imagePullSecrets: [{ name: "same" }] });
    await ready("same");
    assert.ok((await events("same")).includes(`Normal Pulled Container image "${image}" already present on machine and can be accessed by the pod`));
    await closed.resume();
  });

  test("a registry whose certificate nobody vouches for is not trusted", async () => {
    await writeFile(
      path.join(instance.dataDir, "registries", closed.host, "hosts.toml"),
      `server = "https://${closed.host}"\n[host."https://${closed.host}"]\n`,
    );
    const image = await closed.pushBusybox("untrusted:v1");
    await run("untrusted", image, { imagePullSecrets: [{ name: "right" }] });
    assert.match(await waiting("untrusted", "ErrImagePull"), /: x509: certificate signed by unknown authority$/);
  });
});
