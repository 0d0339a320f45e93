/**
 * Stands between a kubelet and containerd and spoils calls: one of each fault asked for, then the call works. Everything else passes as it
 * is, stream by stream of HTTP/2.
 */
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect, constants, createServer } from "node:http2";
import type { ClientHttp2Session, Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { connect as connectSocket } from "node:net";

/** `error`: refused before it happened; `vanish`: it happened, and the connection broke before the answer; `hang`: no answer ever, nothing done. */
export type CriFault = "error" | "vanish" | "hang";

export class CriProxy implements AsyncDisposable {
  readonly #target: string;
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  #upstream: ClientHttp2Session | undefined;
  #method = "";
  #faults: CriFault[] = [];

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer();
    this.#server.on("session", (session) => {
      this.#sessions.add(session);
      session.on("close", () => this.#sessions.delete(session));
      session.on("error", () => undefined);
    });
    this.#server.on("stream", (stream, headers) => this.#pass(stream as ServerHttp2Stream, headers));
  }

  static async start({ path, target }: { path: string; target: string }): Promise<CriProxy> {
    const proxy = new CriProxy(target);
    await rm(path, { force: true });
    proxy.#server.listen(path);
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The next calls of `method` (such as `RunPodSandbox`) get these faults, one each. */
  spoil(method: string, faults: readonly CriFault[]): void {
    this.#method = method;
    this.#faults = [...faults];
  }

  /** What has not struck yet. */
  get left(): readonly CriFault[] {
    return this.#faults;
  }

  #pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on("error", () => undefined);
    const fault = String(headers[":path"]).endsWith(`Service/${this.#method}`) ? this.#faults.shift() : undefined;
    if (fault === "hang") return void stream.resume();
    if (fault === "error") {
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "13", "grpc-message": "injected" }, { endStream: true });
      return void stream.resume();
    }
    const asked = this.#connection().request(headers, { endStream: false });
    asked.on("error", () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    stream.on("close", () => asked.close(constants.NGHTTP2_CANCEL));
    stream.pipe(asked);
    if (fault === "vanish") {
      asked.resume().on("end", () => {
        for (const session of this.#sessions) session.destroy();
      });
      return;
    }
    asked.on("response", (answer) => {
      if (stream.destroyed) return;
      stream.respond(answer, { waitForTrailers: true });
      let trailers: IncomingHttpHeaders = {};
      asked.on("trailers", (last) => (trailers = last));
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
      asked.pipe(stream);
    });
  }

  #connection(): ClientHttp2Session {
    if (this.#upstream === undefined || this.#upstream.closed || this.#upstream.destroyed) {
      this.#upstream = connect("http://localhost", { createConnection: () => connectSocket(this.#target) });
      this.#upstream.on("error", () => undefined);
    }
    return this.#upstream;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    this.#upstream?.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
