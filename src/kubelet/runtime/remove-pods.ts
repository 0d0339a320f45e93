import type { RuntimeService } from "./cri.ts";

/** Stops and removes every sandbox with its containers. Tries all; rejects with the first failure. */
export async function removeAllPods(runtime: RuntimeService): Promise<void> {
  const sandboxes = await runtime.listPodSandbox();
  const results = await Promise.allSettled(
    sandboxes.map(async ({ id }) => {
      await runtime.stopPodSandbox(id);
      await runtime.removePodSandbox(id);
    }),
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
