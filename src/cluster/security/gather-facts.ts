/** Gathers the facts of a data directory's running cluster. */
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { admissionPlugins } from "../../apiserver/admission/plugins.ts";
import { defaultAuthorization } from "../../apiserver/authz/modes.ts";
import { readConfiguration } from "../../apiserver/encryption/configuration.ts";
import type { Client } from "../../client/index.ts";
import { parseArguments } from "../commands/arguments.ts";
import { readAuditFlags } from "../audit/audit-options.ts";
import { readApiServerFiles } from "../components/apiserver/apiserver-files.ts";
import { apiServerFlags } from "../components/apiserver/apiserver-flags/apiserver-flags.ts";
import { readKubeletSettings } from "../components/node/kubelet-settings.ts";
import type { Environment } from "../environment.ts";
import { readUpOptions, upOptionTable } from "../commands/up-options.ts";
import type { UpOptions } from "../commands/up-options.ts";
import type { SecurityFacts, StoredFile } from "./facts.ts";
import { answersStrangers, kubeletsOf, meet, rightsOf } from "./probes.ts";

export interface FactSources {
  readonly environment: Environment;
  readonly dataDir: string;
  readonly processId: number;
  /** As the administrator. */
  readonly client: Client;
  /** Of the API server. */
  readonly url: string;
}

/** Rejects when the process runs no API server. */
export async function gatherFacts({ environment, dataDir, processId, client, url }: FactSources): Promise<SecurityFacts> {
  const options = optionsOf(await readFile(`/proc/${processId}/cmdline`, "utf8"), dataDir);
  const flags = options.flags.get("apiserver") ?? new Map<string, readonly string[]>();
  const { settings, admission, encryption } = apiServerFlags(flags, options);
  const { authorization, admissionConfigurations } = await readApiServerFiles(flags);
  const threshold = options.flags.get("controllers")?.get("terminated-pod-gc-threshold")?.at(-1);
  const files = await storedFiles(dataDir);
  const kubelets = await kubeletsOf(client);
  const server = new URL(url);
  const servers = [
    { name: "the API server", host: server.hostname, port: Number(server.port || 443) },
    ...kubelets.map((kubelet) => ({ ...kubelet, name: `the kubelet of ${kubelet.name}` })),
  ];
  return {
    nowMs: environment.clock.nowMs(),
    apiServerFlags: flags,
    authorizers: (authorization ?? defaultAuthorization).authorizers.map(({ type }) => type),
    admissionPlugins: new Set(admissionPlugins({ ...admission, configurations: admissionConfigurations }).map(({ name }) => name)),
    audit: readAuditFlags(flags),
    encryption: encryption === undefined ? undefined : readConfiguration(await readFile(encryption.file), encryption.file),
    store: options.store,
    anonymousAuth: settings.anonymousAuth,
    hasProfiling: settings.hasProfiling,
    hasPriorityAndFairness: settings.hasPriorityAndFairness,
    requestTimeoutMs: settings.requestTimeoutMs,
    terminatedPodThreshold: threshold === undefined ? 12_500 : Number(threshold),
    kubelet: await readKubeletSettings(options, environment.log),
    files,
    ownerId: (await stat(`/proc/${processId}`)).uid,
    certificates: await Promise.all(files.filter(({ kind }) => kind === "certificate").map(async ({ path }) => ({ path, pem: await readFile(path, "utf8") }))),
    anonymousRights: await rightsOf(client, "system:anonymous", ["system:unauthenticated"]),
    userRights: await rightsOf(client, "coracle:nobody", ["system:authenticated"]),
    tls: await Promise.all(servers.map((each) => meet(each))),
    openKubelets: (await Promise.all(kubelets.map(async (kubelet) => ((await answersStrangers(kubelet)) ? [kubelet.name] : [])))).flat(),
  };
}

/** The options that a process was started with. Throws when they are those of another command. */
export function optionsOf(commandLine: string, dataDir: string): UpOptions {
  const parts = commandLine.split("\0").slice(0, -1);
  const start = parts.findIndex((word, index) => index > 0 && (word === "up" || word === "apiserver"));
  if (start < 0) throw new Error(`what runs on ${dataDir} is a node: ask where its API server runs`);
  const words = parts.slice(start);
  return readUpOptions(
    words[0] === "up" ? parseArguments(words, upOptionTable) : parseArguments(words, { ...upOptionTable, server: "value" }, { component: "apiserver" }),
  );
}

async function storedFiles(dataDir: string): Promise<StoredFile[]> {
  const pki = join(dataDir, "pki");
  const names = await readdir(pki);
  const found: [path: string, kind: StoredFile["kind"]][] = [
    [dataDir, "directory"],
    [pki, "directory"],
    [join(dataDir, "kubeconfig"), "kubeconfig"],
    ...names
      .filter((name) => /\.(key|crt)$/.test(name))
      .map((name): [string, StoredFile["kind"]] => [join(pki, name), name.endsWith(".key") ? "key" : "certificate"]),
  ];
  const store = join(dataDir, "store");
  if ((await readdir(dataDir)).includes("store")) found.push([store, "store"]);
  return Promise.all(
    found.map(async ([path, kind]) => {
      const { mode, uid } = await stat(path);
      return { path, kind, mode, uid };
    }),
  );
}
