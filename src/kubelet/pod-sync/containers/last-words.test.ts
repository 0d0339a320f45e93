import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerStatus } from "../../runtime/cri-messages.ts";
import type { PodStorage } from "../../volumes/pod-storage.ts";
import { readLastWords } from "./last-words.ts";
import { runtimeAnnotations } from "../runtime-names.ts";

const log = "2026-01-01T00:00:00.000000000Z stdout F one\n2026-01-01T00:00:01.000000000Z stderr P tw\n2026-01-01T00:00:01.000000000Z stderr F o\n";

const rows: [title: string, policy: string, exitCode: number, file: string, expected: string][] = [
  ["the file, after success", "File", 0, "well", "well"],
  ["the file, after failure", "File", 1, "badly", "badly"],
  ["an empty file", "File", 1, "", ""],
  ["the file comes before the log", "FallbackToLogsOnError", 1, "badly", "badly"],
  ["the file, whatever stands in the log, after success", "FallbackToLogsOnError", 0, "well", "well"],
  ["nothing after success, whatever stands in the log", "FallbackToLogsOnError", 0, "", ""],
  ["the end of the log", "FallbackToLogsOnError", 1, "", "one\ntwo\n"],
];
for (const [title, policy, exitCode, file, expected] of rows) {
  test(`last words: ${title}`, async () => {
    const files = new Map([
      ["/host/words", file],
      ["/host/0.log", log],
    ]);
    const storage: Pick<PodStorage, "readEnd"> = { readEnd: async (path, bytes) => (files.get(path) ?? "").slice(-bytes) };
    const status = {
      annotations: { [runtimeAnnotations.terminationMessagePath]: "/tmp/why", [runtimeAnnotations.terminationMessagePolicy]: policy },
      mounts: [{ container_path: "/tmp/why", host_path: "/host/words" }],
      exit_code: exitCode,
      log_path: "/host/0.log",
    } as unknown as ContainerStatus;
    assert.equal(await readLastWords(storage as PodStorage, status), expected);
  });
}
