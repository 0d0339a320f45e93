/** The message a container ended with: from its termination file, or the end of its log (API field terminationMessagePolicy). */
import type { ContainerStatus } from "../../runtime/cri-messages.ts";
import type { PodStorage } from "../../volumes/pod-storage.ts";
import { parseLogLine } from "../../server/logs/log-lines.ts";
import { runtimeAnnotations } from "../runtime-names.ts";

const maxFileBytes = 4096;
const maxLogBytes = 2048;
const maxLogLines = 80;

export async function readLastWords(storage: PodStorage, status: ContainerStatus): Promise<string> {
  const path = status.annotations[runtimeAnnotations.terminationMessagePath];
  const mount = status.mounts.find(({ container_path }) => container_path === path);
  const message = mount === undefined ? "" : await storage.readEnd(mount.host_path, maxFileBytes);
  const wantsLog = status.annotations[runtimeAnnotations.terminationMessagePolicy] === "FallbackToLogsOnError";
  if (message !== "" || status.exit_code === 0 || !wantsLog || status.log_path === "") return message;
  return logEnd(await storage.readEnd(status.log_path, maxLogBytes * 4));
}

/** The last lines of a CRI log, without times and tags. */
function logEnd(text: string): string {
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .slice(-maxLogLines);
  const content = lines.map((line) => parseLogLine(line)).map((entry) => (entry === undefined ? "" : entry.isPartial ? entry.content : `${entry.content}\n`));
  return Buffer.from(content.join("")).subarray(-maxLogBytes).toString("utf8");
}
