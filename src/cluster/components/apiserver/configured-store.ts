import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openStore } from "../../../storage/index.ts";
import type { EtcdTls, Store } from "../../../storage/index.ts";
import { UsageError } from "../../commands/arguments.ts";
import type { Environment } from "../../environment.ts";
import type { UpOptions } from "../../commands/up-options.ts";
import { last, storageRootOf } from "./apiserver-flags/flag-values.ts";
import type { Flags } from "./apiserver-flags/flag-values.ts";

/** Opens the store that `--store` names. With etcd, the flags `--etcd-cafile`, `--etcd-certfile` and `--etcd-keyfile` count as upstream's. Throws UsageError and StoreError. */
export async function openConfiguredStore(environment: Environment, options: UpOptions): Promise<Store> {
  const { clock, log: logger } = environment;
  if (options.store === "memory") return openStore({ backend: "memory", clock, logger });
  if (options.store.startsWith("etcd=")) {
    const endpoints = options.store.slice("etcd=".length).split(",");
    const flags = options.flags.get("apiserver") ?? new Map();
    return openStore({ backend: "etcd", clock, logger, endpoints, tls: await etcdTls(flags), root: storageRootOf(flags) });
  }
  const directory = join(options.dataDir, "store");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return openStore({ backend: "lmdb", clock, logger, directory });
}

/** The authority that etcd's certificates are of, and the certificate that we show it. */
async function etcdTls(flags: Flags): Promise<EtcdTls> {
  const read = async (flag: string) => {
    const path = last(flags, flag) ?? "";
    try {
      return path === "" ? undefined : await readFile(path);
    } catch (error) {
      throw new UsageError(`--${flag}: ${(error as Error).message}`);
    }
  };
  const [ca, cert, key] = await Promise.all(["etcd-cafile", "etcd-certfile", "etcd-keyfile"].map(read));
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}
