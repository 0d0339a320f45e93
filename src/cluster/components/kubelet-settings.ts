/** The kubelet's settings from `--kubelet.config=FILE` and its other flags. */
import { readFile } from "node:fs/promises";
import { yamlToJson } from "../../apimachinery/yaml.ts";
import type { JsonValue } from "../../apimachinery/json.ts";
import type { Log } from "../../base/log.ts";
import { ConfigurationError, readSettings } from "../../kubelet/index.ts";
import type { KubeletSettings } from "../../kubelet/index.ts";
import { UsageError } from "../arguments.ts";
import type { UpOptions } from "../up-options.ts";

/** Throws UsageError. */
export async function readKubeletSettings({ flags }: Pick<UpOptions, "flags">, log: Log): Promise<KubeletSettings> {
  const own = flags.get("kubelet") ?? new Map<string, readonly string[]>();
  try {
    const path = own.get("config")?.at(-1);
    const document = path === undefined ? undefined : (yamlToJson(await readFile(path)) as JsonValue);
    const { settings, ignored } = readSettings(document, own);
    if (ignored.length > 0) log.warn("Some settings of the kubelet have no effect here", { settings: ignored.join(", ") });
    return settings;
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(`the kubelet cannot be run so: ${error.message}`);
    throw error;
  }
}
