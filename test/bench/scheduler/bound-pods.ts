/** Follows which pods have a node, by a watch that shows only those. */
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";

/** How long nothing may be bound while pods wait. */
const patienceMs = 60_000;

export class BoundPods implements AsyncDisposable {
  readonly #stream: ClientHttp2Stream;
  readonly #boundMs = new Map<string, number>();
  /** By what the name begins with. */
  readonly #counts = new Map<string, number>();
  #rest = "";
  #wanted: { readonly prefix: string; readonly count: number } | undefined;
  #wake = () => {};
  #fail: (error: Error) => void = () => {};
  #changedMs = performance.now();

  private constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    stream.setEncoding("latin1");
    stream.on("data", (chunk: string) => this.#read(chunk));
  }

  static async follow(session: ClientHttp2Session): Promise<BoundPods> {
    const stream = session.request({ ":path": "/api/v1/pods?watch=true&fieldSelector=spec.nodeName!%3D" });
    await new Promise((resolve, reject) => stream.once("response", resolve).once("error", reject));
    return new BoundPods(stream);
  }

  /** Resolves when so many pods called `PREFIX-…` have a node. */
  async reached(prefix: string, count: number): Promise<void> {
    const countNow = () => this.#counts.get(prefix) ?? 0;
    this.#wanted = { prefix, count };
    if (countNow() >= count) return;
    this.#changedMs = performance.now();
    const late = setInterval(() => {
      if (performance.now() - this.#changedMs > patienceMs)
        this.#fail(new Error(`${countNow()} of ${count} pods are bound, and no more for ${patienceMs / 1000} s`));
    }, 1000);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve;
        this.#fail = reject;
      });
    } finally {
      clearInterval(late);
    }
  }

  /** From creation to binding, of the pods in `createdMs` called `measured-…`. */
  latencies(createdMs: ReadonlyMap<string, number>): number[] {
    return [...createdMs].flatMap(([name, startedMs]) =>
      name.startsWith("measured-") && this.#boundMs.has(name) ? [this.#boundMs.get(name)! - startedMs] : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stream.close();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop()!;
    const nowMs = performance.now();
    for (const line of lines) {
      const name = /"name":"([^"]+)"/.exec(line)?.[1];
      if (name === undefined || this.#boundMs.has(name)) continue;
      this.#boundMs.set(name, nowMs);
      const prefix = name.slice(0, name.lastIndexOf("-"));
      this.#counts.set(prefix, (this.#counts.get(prefix) ?? 0) + 1);
      this.#changedMs = nowMs;
    }
    if (this.#wanted !== undefined && (this.#counts.get(this.#wanted.prefix) ?? 0) >= this.#wanted.count) this.#wake();
  }
}
