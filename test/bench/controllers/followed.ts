/** Follows the objects of one collection by a watch and tells when enough of them are as wanted. */
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";

/** How long nothing may change while others are waited for. */
const patienceMs = 90_000;

/** What the watches of the benchmark look at. */
export interface Followed {
  readonly metadata: { readonly namespace?: string; readonly name: string };
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly availableReplicas?: number;
    readonly desiredReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export class FollowedObjects implements AsyncDisposable {
  readonly #stream: ClientHttp2Stream;
  readonly #isWanted: (object: Followed) => boolean;
  readonly #done = new Set<string>();
  #rest = "";
  #changedMs = performance.now();
  #onChange = () => {};
  #isLost = false;

  private constructor(stream: ClientHttp2Stream, isWanted: (object: Followed) => boolean) {
    this.#stream = stream;
    this.#isWanted = isWanted;
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => this.#read(chunk));
    stream.on("close", () => {
      this.#isLost = true;
      this.#onChange();
    });
  }

  /** `path` is that of a collection. An object counts from when `isWanted` first says so until it is deleted. */
  static async follow(session: ClientHttp2Session, path: string, isWanted: (object: Followed) => boolean): Promise<FollowedObjects> {
    const stream = session.request({ ":path": `${path}?watch=true` });
    await new Promise((resolve, reject) => stream.once("response", resolve).once("error", reject));
    return new FollowedObjects(stream, isWanted);
  }

  /** Rejects when the watch ends, or when nothing has changed for a long time. */
  async reached(count: number): Promise<void> {
    this.#changedMs = performance.now();
    await new Promise<void>((resolve, reject) => {
      const late = setInterval(() => this.#onChange(), 1000);
      const settle = (end: () => void) => {
        clearInterval(late);
        this.#onChange = () => {};
        end();
      };
      this.#onChange = () => {
        if (this.#done.size === count) settle(resolve);
        else if (this.#isLost) settle(() => reject(new Error("the watch has ended")));
        else if (performance.now() - this.#changedMs > patienceMs)
          settle(() => reject(new Error(`${this.#done.size} instead of ${count}, and no change for ${patienceMs / 1000} s`)));
      };
      this.#onChange();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stream.close();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop()!;
    this.#changedMs = performance.now();
    for (const line of lines) this.#see(JSON.parse(line) as { type: string; object: Followed });
    this.#onChange();
  }

  #see({ type, object }: { type: string; object: Followed }): void {
    if (type === "ERROR") throw new Error(`the watch failed: ${JSON.stringify(object)}`);
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    if (type === "DELETED") this.#done.delete(key);
    else if (this.#isWanted(object)) this.#done.add(key);
  }
}
