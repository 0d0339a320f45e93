/** Whether a pod's devices and claims are ready, and when to try again after a failure: every 10 s. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { isAbort } from "../../base/task-group.ts";
import type { NodeContext, Rejection } from "./node-context.ts";

export class PodDevices {
  readonly #node: NodeContext;
  readonly #tell: (type: "Normal" | "Warning", reason: string, message: string) => void;
  #heldUntilMs = 0;

  /** `tell`: an event about the pod. */
  constructor(node: NodeContext, tell: (type: "Normal" | "Warning", reason: string, message: string) => void) {
    this.#node = node;
    this.#tell = tell;
  }

  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  state(pod: DeepReadonly<Pod>): "ready" | "held" | "due" {
    if (this.#node.managers.isReady(pod)) return "ready";
    return this.#node.clock.nowMs() < this.#heldUntilMs ? "held" : "due";
  }

  /** Asks plugins and drivers; returns why the node cannot have the pod after all. */
  async prepare(pod: DeepReadonly<Pod>, signal: AbortSignal): Promise<Rejection | undefined> {
    const { managers, client, clock } = this.#node;
    try {
      return await managers.prepare(pod, client, signal);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      this.#heldUntilMs = clock.nowMs() + retryMs;
      this.#tell("Warning", "FailedPrepareDynamicResources", `Failed to prepare dynamic resources: prepare dynamic resources: ${(error as Error).message}`);
      return undefined;
    }
  }

  async release(podUid: string, signal: AbortSignal): Promise<void> {
    await this.#node.managers.claims.release(podUid, signal);
    this.#node.managers.release(podUid);
  }
}

const retryMs = 10_000;
