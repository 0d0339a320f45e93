/** What flags of kube-apiserver name files for: admission configuration, static tokens. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { yamlToJson } from "../../apimachinery/yaml.ts";
import { UsageError } from "../arguments.ts";

export interface ApiServerFiles {
  /** Configuration of admission plugins by name. */
  readonly admissionConfigurations: Readonly<Record<string, unknown>>;
  readonly staticTokens?: string;
}

/** Reads the files that `flags` name. Throws UsageError when one cannot be read. */
export async function readApiServerFiles(flags: ReadonlyMap<string, readonly string[]>): Promise<ApiServerFiles> {
  const admission = flags.get("admission-control-config-file")?.at(-1);
  const tokens = flags.get("token-auth-file")?.at(-1);
  return {
    admissionConfigurations: admission === undefined ? {} : await admissionConfigurations(admission),
    ...(tokens !== undefined && { staticTokens: await text(tokens) }),
  };
}

/** API type apiserver.config.k8s.io/v1 AdmissionConfiguration. */
interface AdmissionConfiguration {
  readonly plugins?: readonly { readonly name: string; readonly path?: string; readonly configuration?: unknown }[];
}

async function admissionConfigurations(path: string): Promise<Record<string, unknown>> {
  const { plugins = [] } = (await document(path)) as AdmissionConfiguration;
  const entries = plugins.map(async ({ name, path: own, configuration }) => [name, own === undefined || own === "" ? configuration : await document(resolve(dirname(path), own))] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function document(path: string): Promise<unknown> {
  return yamlToJson(Buffer.from(await text(path)));
}

async function text(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
