/** Commands that speak to the cluster of a data directory as its administrator. */
import { tlsConnection } from "./api-connection.ts";
import type { ApiConnection } from "./api-connection.ts";
import { Certificates } from "../certificates/certificates.ts";
import type { Environment } from "../environment.ts";
import { keyDirectory } from "../certificates/key-store.ts";
import { serverOf } from "../commands/run-component.ts";

export interface AdminConnection extends AsyncDisposable {
  readonly transport: ReturnType<ApiConnection["transportFor"]>;
  readonly certificates: Certificates;
  readonly url: string;
}

/** Throws when no cluster was ever started there. */
export async function adminConnection(dataDir: string, environment: Environment): Promise<AdminConnection> {
  const certificates = new Certificates(keyDirectory(dataDir), environment.clock);
  const url = await serverOf(dataDir);
  const api = tlsConnection(url, certificates, environment);
  return { url, certificates, transport: api.transportFor(administrator), [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

export const administrator = { username: "coracle", groups: ["system:masters"] };
