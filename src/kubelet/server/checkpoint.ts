/** Checkpoints of running containers (documentation page "Kubelet Checkpoint API"): archives under `ROOT/checkpoints`. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { RuntimeContainer } from "../pod-sync/pod-runtime.ts";
import { RuntimeError } from "../runtime/cri.ts";
import type { RuntimeService } from "../runtime/cri.ts";

export interface CheckpointRequest {
  readonly pod: DeepReadonly<Pod>;
  readonly container: RuntimeContainer;
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  readonly rootDirectory: string | undefined;
}

/** The archive's path. Rejects with `RuntimeError`: `Unimplemented` where the runtime cannot do it. */
export async function writeCheckpoint({ pod, container, runtime, clock, rootDirectory }: CheckpointRequest, signal: AbortSignal): Promise<string> {
  if (runtime.checkpointContainer === undefined || rootDirectory === undefined)
    throw new RuntimeError("Unimplemented", "method CheckpointContainer not implemented");
  const directory = join(rootDirectory, "checkpoints");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { name, namespace } = pod.metadata;
  const location = join(directory, `checkpoint-${name}_${namespace}-${container.name}-${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z.tar`);
  await runtime.checkpointContainer(container.id, location, signal);
  return location;
}
