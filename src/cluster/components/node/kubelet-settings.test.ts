import { test } from "node:test";
import { rejects } from "node:assert/strict";
import { UsageError } from "../../commands/arguments.ts";
import { silentLog } from "../../../base/log.ts";
import { readKubeletSettings } from "./kubelet-settings.ts";

test("kubelet settings: a file that cannot be read is told with its flag", async () => {
  const flags = new Map([["kubelet", new Map([["config", ["/nonexistent/file"]]])]]);
  await rejects(readKubeletSettings({ flags }, silentLog), new UsageError("--kubelet.config: open /nonexistent/file: no such file or directory"));
});
