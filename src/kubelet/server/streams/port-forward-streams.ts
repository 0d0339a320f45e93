/** Port-forward over SPDY streams: for each connection an error and a data stream with one `requestid`. */
import type { Clock } from "../../../base/clock.ts";
import type { RuntimeService } from "../../runtime/cri.ts";
import { portForwardError } from "./port-forward.ts";
import type { ServerStream, SpdyServer } from "./spdy-server.ts";

export async function serveForwardStreams(server: SpdyServer, context: ForwardContext): Promise<void> {
  const waiting = new Map<string, Partial<Record<StreamType, ServerStream>>>();
  const running = new Set<Promise<void>>();
  for await (const stream of server.streams()) {
    const { streamtype = "", port = "", requestid = "" } = stream.headers;
    const isGood = (streamtype === "error" || streamtype === "data") && /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
    if (!isGood) {
      await stream.reset();
      continue;
    }
    const pair = { ...waiting.get(requestid), [streamtype]: stream };
    const { error, data } = pair;
    if (error === undefined || data === undefined) {
      waiting.set(requestid, pair);
      continue;
    }
    waiting.delete(requestid);
    const forward: Promise<void> = forwardPort({ error, data }, Number(port), context).finally(() => running.delete(forward));
    running.add(forward);
  }
  await Promise.all(running);
}

export interface ForwardContext {
  readonly sandboxId: string;
  readonly runtime: RuntimeService;
  readonly clock: Clock;
}

type StreamType = "error" | "data";

async function forwardPort({ error, data }: Record<StreamType, ServerStream>, port: number, { runtime, sandboxId, clock }: ForwardContext): Promise<void> {
  const fail = async (text: string) => {
    await data.end();
    await error.write(Buffer.from(text));
    await error.end();
  };
  try {
    const session = await runtime.openPortForward(sandboxId, port);
    const reading = (async () => {
      for await (const chunk of data.input) await session.write(chunk);
      // The end of the client's side is not told to the pod; it gets a moment to finish.
      if (data.isReset) session.close();
      else clock.after(lingerMs, () => session.close());
    })();
    for await (const chunk of session.output) await data.write(chunk);
    const { error: text } = await session.done;
    if (text === undefined) {
      await data.end();
      await error.end();
    } else await fail(text.startsWith("error forwarding port") ? text : portForwardError(port, sandboxId, text));
    session.close();
    void reading.catch(() => undefined);
  } catch (failure) {
    await fail(portForwardError(port, sandboxId, failure instanceof Error ? failure.message : String(failure)));
  }
}

const lingerMs = 1000;
