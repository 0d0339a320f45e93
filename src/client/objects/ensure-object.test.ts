import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { alreadyExistsError, forbiddenError, internalServerError } from "../../apimachinery/status.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { Client, resources, TransportError } from "../index.ts";
import { ensureObject } from "./ensure-object.ts";
import type { StatusError } from "../../apimachinery/status.ts";

const target = { group: "", resource: "configmaps" };

/** Answers the attempts in turn, then takes the object. Returns when each came, in ms. */
function ensuring(...failures: readonly (StatusError | TransportError)[]) {
  const clock = new VirtualClock(0);
  const atMs: number[] = [];
  const transport = () => {
    const failure = failures[atMs.push(clock.nowMs()) - 1];
    if (failure instanceof TransportError) return Promise.reject(failure);
    const status = failure?.status.code ?? 201;
    return Promise.resolve(bytesResponse(status, "application/json", JSON.stringify(failure?.status ?? { metadata: { name: "a" } })));
  };
  const client = new Client({ transport, clock, userAgent: "test" });
  const done = ensureObject(client, resources.configMaps, { metadata: { name: "a", namespace: "n" } }, { clock, signal: new AbortController().signal });
  return { clock, atMs, done };
}

test("ensured objects: asked again while the server cannot be reached or fails", async () => {
  const { clock, atMs, done } = ensuring(new TransportError("the connection was lost"), internalServerError("no"), new TransportError("gone"));
  await clock.advance(10_000);
  await done;
  deepEqual(atMs, [0, 100, 300, 700]);
});

test("ensured objects: one that is there is left alone", async () => {
  const { atMs, done } = ensuring(alreadyExistsError(target, "a"));
  await done;
  equal(atMs.length, 1);
});

test("ensured objects: a refusal is told", async () => {
  const { atMs, done } = ensuring(forbiddenError(target, "a", "no"));
  await rejects(done, /forbidden/);
  equal(atMs.length, 1);
});
