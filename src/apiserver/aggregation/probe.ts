/** Asks an extension API server whether it serves its version. */
import { deadline } from "../../base/clock.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { ServerState } from "../server-state.ts";
import type { RemoteVersion } from "./api-service-index.ts";
import { discoveryFailure, passed } from "./availability.ts";
import type { Availability } from "./availability.ts";
import type { ExtensionTarget } from "./connector.ts";
import { identityHeaders } from "./forwarded-headers.ts";
import { targetsOf, versionPath } from "./remote-target.ts";

/** As whom the aggregator asks. */
export const aggregatorUser: UserInfo = { username: "system:kube-aggregator", groups: ["system:masters"] };

const timeoutMs = 5000;
/** Endpoints that are asked at once; one that answers is enough. */
const attempts = 5;

/** Never rejects, unless `signal` aborts. */
export async function probeExtension(server: ServerState, remote: RemoteVersion, signal: AbortSignal): Promise<Availability> {
  try {
    const targets = targetsOf(server, remote).slice(0, attempts);
    await Promise.any(targets.map((target) => askVersion(server, target, versionPath(remote), signal)));
    return passed;
  } catch (error) {
    signal.throwIfAborted();
    const last = error instanceof AggregateError ? (error.errors.at(-1) as unknown) : error;
    return discoveryFailure(last instanceof Error ? last.message : String(last));
  }
}

async function askVersion(server: ServerState, target: ExtensionTarget, path: string, signal: AbortSignal): Promise<void> {
  const url = `https://${target.host}${path}`;
  const failed = (text: string, cause?: unknown) => new Error(`failing or missing response from ${url}: ${text}`, { cause });
  const limit = deadline(server.clock, timeoutMs, signal);
  try {
    const { status, body } = await server.extensions
      .send(target, { method: "GET", path, query: "", headers: identityHeaders(aggregatorUser), body: new Uint8Array(), signal: limit.signal })
      .catch((error: unknown) => {
        const text = limit.signal.aborted
          ? "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
          : error instanceof Error
            ? error.message
            : String(error);
        throw failed(`Get ${goQuote(url)}: ${text}`, error);
      });
    if (body.kind === "stream") await body.chunks[Symbol.asyncIterator]().return?.();
    if (status < 200 || status > 299) throw failed(`bad status from ${url}: ${status}`);
  } finally {
    limit.cancel();
  }
}
