import { test } from "node:test";
import { equal } from "node:assert/strict";
import { TaskGroup } from "../../base/task-group.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { ServerState } from "../server-state.ts";
import { callWebhook } from "./webhook-client.ts";

test("webhooks: the path that is asked for is clean", async () => {
  const table: [configured: string, asked: string][] = [
    ["https://127.0.0.1:9443//failing", "https://127.0.0.1:9443/failing"],
    ["https://example.com", "https://example.com/"],
    ["https://example.com/", "https://example.com/"],
    ["https://example.com/a/b/", "https://example.com/a/b"],
    ["https://example.com/a/./b//../c", "https://example.com/a/c"],
    ["https://[::1]:443/a", "https://[::1]:443/a"],
  ];
  for (const [url, asked] of table) {
    let seen = "";
    const webhooks = {
      post: async (target: { url: string }) => {
        seen = target.url;
        return { status: 200, headers: {}, body: Buffer.from("{}") };
      },
    };
    const server = { clock: new VirtualClock(0), webhooks, tasks: new TaskGroup() } as unknown as ServerState;
    await callWebhook(server, { url }, { body: Buffer.from("{}"), timeoutMs: 1000, signal: new AbortController().signal });
    equal(seen, `${asked}?timeout=1s`);
  }
});
