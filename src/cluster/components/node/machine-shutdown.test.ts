import { equal } from "node:assert/strict";
import { test } from "node:test";
import { isShutdownSignal } from "./machine-shutdown.ts";

const lines: [line: string, expected: boolean][] = [
  [
    '{"type":"signal","path":"/org/freedesktop/login1","interface":"org.freedesktop.login1.Manager","member":"PrepareForShutdown","payload":{"type":"b","data":[true]}}',
    true,
  ],
  ['{"type":"signal","member":"PrepareForShutdown","payload":{"type":"b","data":[false]}}', false],
  ['{"type":"signal","member":"PrepareForSleep","payload":{"type":"b","data":[true]}}', false],
  ["Monitoring bus message stream.", false],
];
for (const [line, expected] of lines) test(`shutdown: ${line.slice(0, 60)}`, () => equal(isShutdownSignal(line), expected));
