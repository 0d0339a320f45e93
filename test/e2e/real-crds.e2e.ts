/** The definitions of real projects, as their Go modules ship them, in our API server: all are served, samples are accepted, faults refused. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { loadAll } from "js-yaml";
import type { CustomResourceDefinition } from "../../src/api/apiextensions-v1/types.ts";
import { applyMergePatch } from "../../src/apimachinery/patch/merge-patch.ts";
import type { JsonObject } from "../../src/apimachinery/json.ts";
import { systemClock } from "../../src/base/clock.ts";
import { Client, StatusError, TlsTransport, connectionSettings, parseKubeconfig } from "../../src/client/index.ts";
import type { KubeObject, ResourceType } from "../../src/client/index.ts";
import { Instance, whyNoProgram } from "./instance.ts";
import { projects } from "./real-crds/projects.ts";
import type { Fault } from "./real-crds/projects.ts";

const definitions: ResourceType<CustomResourceDefinition> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  resource: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  isNamespaced: false,
};

describe("the definitions of real projects", { skip: (await whyNoProgram("go")) ?? false, timeout: 600_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "coracle-real-crds-"));
  let instance: Instance;
  let transport: TlsTransport;
  let client: Client;

  before(async () => {
    instance = await Instance.create();
    await instance.start({ args: ["--port", "16521", "--store", "memory", "--components", "apiserver"] });
    const settings = await connectionSettings(parseKubeconfig(await readFile(path.join(instance.dataDir, "kubeconfig"), "utf8")), (file) => readFile(file));
    const clock = systemClock({ keepAlive: true });
    transport = new TlsTransport({ ...settings, clock });
    client = new Client({ transport: transport.send, clock, userAgent: "real-crds" });
  });
  after(async () => {
    await transport[Symbol.asyncDispose]();
    await instance[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const { module, crds, samples, isSample, own, faults } of projects) {
    test(module, async (t) => {
      const sources = download(folder, module);
      const shipped = documents(sources, crds).filter(({ kind }) => kind === "CustomResourceDefinition") as unknown as CustomResourceDefinition[];
      assert.ok(shipped.length > 0, `there are definitions in ${crds.join(", ")}`);

      await t.test(`${shipped.length} definitions are established`, async () => {
        // As their own pages say: the larger ones do not fit the annotation of a plain apply.
        await instance.kubectl("apply", "--server-side", ...filesOf(sources, crds).flatMap((file) => ["-f", file]));
        const names = shipped.map(({ metadata }) => metadata.name!);
        await instance.kubectl("wait", "--for=condition=Established", "--timeout=60s", ...names.map((name) => `crd/${name}`));
        for (const name of names) {
          const { status } = await client.get(definitions, "", name);
          const conditions = Object.fromEntries(
            (status?.conditions ?? []).map(({ type, status: is, message }) => [type, is === "True" ? is : `${is}: ${message}`]),
          );
          assert.deepEqual([conditions["Established"], conditions["NamesAccepted"], conditions["NonStructuralSchema"]], ["True", "True", undefined], name);
        }
      });

      const accepted = [
        ...documents(sources, samples ?? []).filter((object) => resourceOf(object, shipped) !== undefined && (isSample?.(object) ?? true)),
        ...own,
      ];
      assert.ok(accepted.length > 0, "there are samples");
      await t.test(`${accepted.length} samples are accepted`, async () => {
        for (const object of accepted) await create(object, shipped);
      });

      for (const fault of faults) {
        await t.test(`${fault.of}: ${fault.field} is refused`, async () => {
          const sound = accepted.find(({ kind }) => kind === fault.of);
          assert.ok(sound !== undefined, `there is a sound ${fault.of}`);
          await refused(() => create(applyMergePatch(sound as unknown as JsonObject, fault.patch) as unknown as KubeObject, shipped), fault);
        });
      }
    });
  }

  /** Every check of a create but the name's: samples share names. */
  async function create(object: KubeObject, shipped: readonly CustomResourceDefinition[]): Promise<void> {
    const resource = resourceOf(object, shipped);
    assert.ok(resource !== undefined, `${object.kind} is defined`);
    const { namespace: _, ...metadata } = object.metadata;
    await client.create(
      resource,
      { ...object, metadata: resource.isNamespaced ? { ...metadata, namespace: "default" } : metadata },
      { isDryRun: true, fieldValidation: "Strict" },
    );
  }
});

async function refused(work: () => Promise<void>, { field, message }: Fault): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof StatusError, String(error));
    assert.equal(error.code, 422, error.message);
    const causes = error.status.details?.causes ?? [];
    assert.ok(
      causes.some((cause) => cause.field === field && message.test(cause.message ?? "")),
      `${field} with ${message} in ${JSON.stringify(causes)}`,
    );
    return true;
  });
}

/** The sources of MODULE@VERSION, in a cache below `folder`. */
function download(folder: string, module: string): string {
  const env = { ...process.env, GOMODCACHE: path.join(folder, "cache"), GOFLAGS: "-modcacherw", GOWORK: "off" };
  const { Dir } = JSON.parse(execFileSync("go", ["mod", "download", "-json", module], { cwd: folder, env, encoding: "utf8" })) as { Dir: string };
  return Dir;
}

function filesOf(sources: string, patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) =>
    globSync(pattern, { cwd: sources })
      .sort()
      .map((file) => path.join(sources, file)),
  );
}

function documents(sources: string, patterns: readonly string[]): KubeObject[] {
  return filesOf(sources, patterns)
    .flatMap((file) => loadAll(readFileSync(file, "utf8")) as (KubeObject | null)[])
    .filter((object) => object !== null);
}

function resourceOf({ apiVersion = "", kind = "" }: KubeObject, shipped: readonly CustomResourceDefinition[]): ResourceType | undefined {
  const [group = "", version = ""] = apiVersion.split("/");
  const spec = shipped.find((definition) => definition.spec.group === group && definition.spec.names.kind === kind)?.spec;
  return spec && { group, version, resource: spec.names.plural, kind, isNamespaced: spec.scope === "Namespaced" };
}
