import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { createSimulatedRuntime } from "../runtime/simulated.ts";
import { removeLeftovers } from "./leftovers.ts";
import { NoStorage } from "./no-storage.ts";

class SomeStorage extends NoStorage {
  readonly removed: string[] = [];
  override async podUids(): Promise<string[]> {
    return ["known", "gone"];
  }
  override async tearDown(podUid = ""): Promise<void> {
    this.removed.push(podUid);
  }
  override async logNames(): Promise<string[]> {
    return ["default_a_known", "default_b_gone", "default_c_forgotten", "somebody's", "of_some_other_kind"];
  }
  override async removeLogs(directory?: string): Promise<void> {
    this.removed.push(directory ?? "");
  }
}

test("leftovers: volumes and logs of pods that nobody knows are removed, nothing else", async () => {
  const storage = new SomeStorage();
  const runtime = createSimulatedRuntime({ clock: new VirtualClock(), random: seededRandom(1) });
  const options = { storage, runtime, logRoot: "/logs", log: silentLog, isKnown: (uid: string) => uid === "known" };
  await removeLeftovers(options, new AbortController().signal);
  deepEqual(storage.removed, ["gone", "/logs/default_b_gone", "/logs/default_c_forgotten"]);
});
