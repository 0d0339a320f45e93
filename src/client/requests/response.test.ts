import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { decodeFrames, errorOf } from "./response.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";

const response = (status: number, headers: ApiResponse["headers"] = {}): ApiResponse => ({
  status,
  headers,
  body: { kind: "bytes", bytes: new Uint8Array(0) },
});
const status = JSON.stringify({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: 'pods "web" not found',
  reason: "NotFound",
  code: 404,
});

const errors: [name: string, response: ApiResponse, body: string, expect: [reason: string, code: number, message: string]][] = [
  ["a Status", response(404), status, ["NotFound", 404, 'pods "web" not found']],
  ["plain text", response(404), "404 page not found\n", ["NotFound", 404, "the server could not find the requested resource (get pods web)"]],
  [
    "too many requests",
    response(429, { "retry-after": "2" }),
    "Too many requests, please try again later.\n",
    ["TooManyRequests", 429, "the server has received too many requests and has asked us to try again later (get pods web)"],
  ],
  [
    "something else in JSON",
    response(502),
    '{"a":1}',
    ["InternalError", 502, 'an error on the server ("{\\"a\\":1}") has prevented the request from succeeding (get pods web)'],
  ],
  [
    "JSON cut short",
    response(500),
    '{"kind":"Stat',
    ["InternalError", 500, 'an error on the server ("{\\"kind\\":\\"Stat") has prevented the request from succeeding (get pods web)'],
  ],
  ["an empty answer", response(503), "", ["ServiceUnavailable", 503, "the server is currently unable to handle the request (get pods web)"]],
  ["an unknown code", response(418), "", ["Unknown", 418, "the server responded with the status code 418 but did not return more information (get pods web)"]],
];
for (const [name, answer, body, expect] of errors) {
  test(`error of ${name}`, () => {
    const error = errorOf(answer, Buffer.from(body), { method: "GET", subject: "pods web" });
    deepEqual([error.reason, error.code, error.message], expect);
  });
}

const frames: [name: string, chunks: string[], expect: unknown[][]][] = [
  ["one per chunk", ['{"a":1}\n', '{"a":2}\n'], [[{ a: 1 }], [{ a: 2 }]]],
  ["several in a chunk", ['{"a":1}\n{"a":2}\n'], [[{ a: 1 }, { a: 2 }]]],
  ["cut anywhere", ['{"a"', ":1", '}\n{"b":', '"é"}\n{"c":3}', "\n"], [[{ a: 1 }], [{ b: "é" }], [{ c: 3 }]]],
  ["an unfinished last one", ['{"a":1}\n{"b"'], [[{ a: 1 }]]],
];
for (const [name, chunks, expect] of frames) {
  test(`frames: ${name}`, async () => {
    const bytes = async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    };
    const seen: unknown[][] = [];
    for await (const batch of decodeFrames(bytes())) seen.push(batch);
    deepEqual(seen, expect);
  });
}
