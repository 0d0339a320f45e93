import { seededRandom } from "../../../src/base/random.ts";
import { checkKeys } from "./check-keys.ts";
import { checkLog } from "./check-log.ts";
import { runWorkload } from "./workload.ts";
import type { Subject, WorkloadOptions } from "./workload.ts";

/** Runs clients against `subject`, and says what in their history cannot be; undefined when all of it can. */
export async function checkSubject(subject: Subject, seed: number, size: Partial<Omit<WorkloadOptions, "random">> = {}): Promise<string | undefined> {
  const history = await runWorkload(subject, {
    random: seededRandom(seed),
    clients: 8,
    steps: 30,
    keys: 2,
    watchers: 3,
    crashes: 2,
    patience: 10_000,
    ...size,
  });
  return checkKeys(history) ?? checkLog(history) ?? (history.unseen === undefined ? undefined : `a watch never came to revision ${history.unseen}`);
}
