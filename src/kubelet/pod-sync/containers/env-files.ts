import { ConfigError } from "../../env/config-error.ts";
import { maxEnvFileBytes, parseEnvFile } from "../../env/env-file.ts";
import type { StartRequest } from "./start-container.ts";

/** Reads the files that the container's variables name, each once, and returns how to look one up. Faults show when it is looked up. */
export async function readEnvFiles({ node, pod, spec }: StartRequest): Promise<(volumeName: string, path: string) => ReadonlyMap<string, string> | undefined> {
  const podUid = pod.metadata.uid ?? "";
  const files = new Map<string, ReadonlyMap<string, string> | ConfigError | undefined>();
  const keyOf = (volumeName: string, path: string) => JSON.stringify([volumeName, path]);
  for (const { valueFrom } of spec.container.env ?? []) {
    if (valueFrom?.fileKeyRef === undefined) continue;
    const { volumeName, path } = valueFrom.fileKeyRef;
    const key = keyOf(volumeName, path);
    if (files.has(key)) continue;
    try {
      const text = await node.storage.readVolumeFile({ podUid, volumeName, path, limitBytes: maxEnvFileBytes });
      files.set(key, text === undefined ? undefined : parseEnvFile(text));
    } catch (error) {
      files.set(
        key,
        new ConfigError(`couldn't parse env file ${JSON.stringify(path)}: ${error instanceof Error ? error.message : String(error)}`, { cause: error }),
      );
    }
  }
  return (volumeName, path) => {
    const found = files.get(keyOf(volumeName, path));
    if (found instanceof ConfigError) throw found;
    return found;
  };
}
