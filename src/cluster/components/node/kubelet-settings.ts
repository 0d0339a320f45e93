/** The kubelet's settings from `--kubelet.config=FILE` and its other flags. */
import { yamlToJson } from "../../../apimachinery/yaml/yaml.ts";
import type { JsonValue } from "../../../apimachinery/json.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Programs } from "../../../host/index.ts";
import { ConfigurationError, CredentialProviders, readCredentialProviders, readSettings } from "../../../kubelet/index.ts";
import type { KubeletSettings } from "../../../kubelet/index.ts";
import { UsageError } from "../../commands/arguments.ts";
import { readText } from "../../files/read-text.ts";
import type { UpOptions } from "../../commands/up-options.ts";

/** Throws UsageError. */
export async function readKubeletSettings({ flags }: Pick<UpOptions, "flags">, log: Log): Promise<KubeletSettings> {
  const own = flags.get("kubelet") ?? new Map<string, readonly string[]>();
  try {
    const path = own.get("config")?.at(-1);
    const document = path === undefined ? undefined : await readDocument("config", path);
    const { settings, ignored } = readSettings(document, own);
    if (ignored.length > 0) log.warn("Some settings of the kubelet have no effect here", { settings: ignored.join(", ") });
    return settings;
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(`the kubelet cannot be run so: ${error.message}`);
    throw error;
  }
}

/** What the settings say of TLS, as flags. */
export function tlsFlags({ tlsCertFile, tlsPrivateKeyFile, tlsMinVersion, tlsCipherSuites }: KubeletSettings): ReadonlyMap<string, readonly string[]> {
  const given = {
    "tls-cert-file": [tlsCertFile],
    "tls-private-key-file": [tlsPrivateKeyFile],
    "tls-min-version": [tlsMinVersion],
    "tls-cipher-suites": tlsCipherSuites,
  };
  return new Map(Object.entries(given).filter(([, values]) => values.length > 0 && values[0] !== ""));
}

/** From `--kubelet.image-credential-provider-config=FILE` and `--kubelet.image-credential-provider-bin-dir=DIR`; undefined without them. Throws UsageError. */
export async function readProviders(
  { flags }: Pick<UpOptions, "flags">,
  parts: { programs: Programs; clock: Clock; log: Log },
): Promise<CredentialProviders | undefined> {
  const own = flags.get("kubelet");
  const [file, directory] = [own?.get("image-credential-provider-config")?.at(-1), own?.get("image-credential-provider-bin-dir")?.at(-1)];
  if (file === undefined && directory === undefined) return undefined;
  if (file === undefined || directory === undefined)
    throw new UsageError("--kubelet.image-credential-provider-config and --kubelet.image-credential-provider-bin-dir are given together");
  try {
    const providers = readCredentialProviders(await readDocument("image-credential-provider-config", file));
    return new CredentialProviders({ ...parts, providers, directory, environment: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" } });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(`the kubelet cannot be run so: ${error.message}`);
    throw error;
  }
}

async function readDocument(flag: string, path: string): Promise<JsonValue> {
  try {
    return yamlToJson(Buffer.from(await readText(path))) as JsonValue;
  } catch (error) {
    throw new UsageError(`--kubelet.${flag}: ${(error as Error).message}`);
  }
}
