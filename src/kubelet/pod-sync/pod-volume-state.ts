/** Whether a pod's volumes are set up, and when to try or renew them: after a failure in 0.5 s, doubled up to 2 min 2 s. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodObjects } from "../volumes/object-source.ts";
import type { NodeContext } from "./node-context.ts";
import { podFacts } from "./start-container.ts";

export class PodVolumes {
  readonly #node: NodeContext;
  readonly #objects: PodObjects;
  #isReady = false;
  #hasBeenReady = false;
  #isStale = false;
  #failures = 0;
  #dueMs = 0;
  #refreshAtMs: number | undefined;

  constructor(node: NodeContext, objects: PodObjects) {
    this.#node = node;
    this.#objects = objects;
  }

  get hasBeenReady(): boolean {
    return this.#hasBeenReady;
  }

  /** When the next try may be made. */
  get dueMs(): number {
    return this.#dueMs;
  }

  get refreshAtMs(): number | undefined {
    return this.#refreshAtMs;
  }

  isReady(nowMs: number): boolean {
    return this.#isReady && !this.#isStale && (this.#refreshAtMs === undefined || nowMs < this.#refreshAtMs);
  }

  /** Something they are made of has changed: look again, at once. */
  invalidate(): void {
    this.#isStale = true;
    this.#dueMs = 0;
  }

  /** Returns what could not be set up. */
  async setUp(pod: DeepReadonly<Pod>, podIPs: readonly string[], signal: AbortSignal): Promise<readonly { readonly volume: string; readonly message: string }[]> {
    const { clock, storage, tokens } = this.#node;
    await this.#objects.synced(signal);
    this.#isStale = false;
    const result = await storage.setUp(pod, {
      facts: podFacts(this.#node, podIPs),
      configMap: (name) => this.#objects.configMap(name),
      secret: (name) => this.#objects.secret(name),
      token: (request) => tokens.get(pod, request, signal),
    });
    signal.throwIfAborted();
    this.#refreshAtMs = result.refreshAtMs;
    this.#isReady = result.faults.length === 0;
    if (this.#isReady) {
      this.#failures = 0;
      this.#hasBeenReady = true;
    } else {
      this.#dueMs = clock.nowMs() + Math.min(maxRetryMs, firstRetryMs * 2 ** this.#failures++);
    }
    return result.faults;
  }
}

const firstRetryMs = 500;
const maxRetryMs = 122_000;
