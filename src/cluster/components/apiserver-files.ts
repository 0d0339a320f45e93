/** What flags of kube-apiserver name files for: admission configuration, static tokens. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { yamlToJson } from "../../apimachinery/yaml.ts";
import type { AuthenticationConfiguration } from "../../apiserver/authn/jwt/configuration.ts";
import type { AuthorizationChoice } from "../../apiserver/authz/modes.ts";
import { UsageError } from "../arguments.ts";

export interface ApiServerFiles {
  /** Configuration of admission plugins by name. */
  readonly admissionConfigurations: Readonly<Record<string, unknown>>;
  readonly staticTokens?: string;
  readonly authorization?: AuthorizationChoice;
  readonly authentication?: AuthenticationConfiguration;
}

type Flags = ReadonlyMap<string, readonly string[]>;

/** Reads the files that `flags` name. Throws UsageError when one cannot be read. */
export async function readApiServerFiles(flags: Flags): Promise<ApiServerFiles> {
  const admission = flags.get("admission-control-config-file")?.at(-1);
  const tokens = flags.get("token-auth-file")?.at(-1);
  const authentication = flags.get("authentication-config")?.at(-1);
  return {
    admissionConfigurations: admission === undefined ? {} : await admissionConfigurations(admission),
    ...(tokens !== undefined && { staticTokens: await text(tokens) }),
    ...(authentication !== undefined && { authentication: (await document(authentication)) as AuthenticationConfiguration }),
    ...(await authorization(flags)),
  };
}

/** Modes by flag, or the API type apiserver.config.k8s.io/v1 AuthorizationConfiguration. */
async function authorization(flags: Flags): Promise<Pick<ApiServerFiles, "authorization">> {
  const file = flags.get("authorization-config")?.at(-1);
  const modes = flags.get("authorization-mode")?.flatMap((list) => list.split(","));
  if (file !== undefined && modes !== undefined) throw new UsageError("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined");
  const policies = flags.get("authorization-policy-file")?.at(-1);
  const abac = policies === undefined ? {} : { abacPolicies: await text(policies) };
  if (file !== undefined) {
    const { authorizers = [] } = (await document(file)) as { authorizers?: { type: string; name: string }[] };
    return { authorization: { authorizers, ...abac } };
  }
  if (modes === undefined) return {};
  const unknown = modes.find((mode) => !authorizationModes.includes(mode));
  if (unknown !== undefined) throw new UsageError(`authorization-mode ${JSON.stringify(unknown)} is not a valid mode`);
  return { authorization: { authorizers: modes.map((type) => ({ type, name: type.toLowerCase() })), ...abac } };
}

const authorizationModes = ["AlwaysAllow", "AlwaysDeny", "ABAC", "RBAC", "Node"];

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
