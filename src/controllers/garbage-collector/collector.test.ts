import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { conflictError, notFoundError } from "../../apimachinery/status.ts";
import { Client, loopbackTransport, resources } from "../../client/index.ts";
import { Collector } from "./collector.ts";
import { OwnerGraph } from "./graph.ts";
import type { ApiRequest } from "../../apimachinery/request.ts";
import type { StatusError } from "../../apimachinery/status.ts";

const name = { group: "", resource: "configmaps" };
const orphan = (resourceVersion: string, uid = "o") => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "o", namespace: "x", uid, resourceVersion, ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "gone", uid: "gone" }] },
});

const cases: { name: string; live: ReturnType<typeof orphan> | StatusError; answer: StatusError | undefined; deletes: object[]; next: string[] }[] = [
  { name: "it goes as it was judged", live: orphan("7"), answer: undefined, deletes: [{ uid: "o", resourceVersion: "7" }], next: [] },
  {
    name: "somebody wrote it meanwhile: it is judged anew",
    live: orphan("7"),
    answer: conflictError(name, "o", "it has changed"),
    deletes: [{ uid: "o", resourceVersion: "7" }],
    next: ["o"],
  },
  { name: "it is gone before", live: orphan("7"), answer: notFoundError(name, "o"), deletes: [{ uid: "o", resourceVersion: "7" }], next: [] },
  { name: "there is none any more", live: notFoundError(name, "o"), answer: undefined, deletes: [], next: [] },
  { name: "another one has its name", live: orphan("7", "other"), answer: undefined, deletes: [], next: [] },
];
for (const { name: title, live, answer, deletes, next } of cases) {
  test(`collector: ${title}`, async () => {
    const sent: object[] = [];
    const respond = (body: object, code = 200) => bytesResponse(code, "application/json", JSON.stringify(body));
    const handler = async ({ method, body }: ApiRequest) => {
      const result = method === "GET" ? live : answer;
      if (method === "DELETE") sent.push((JSON.parse(Buffer.from(body).toString()) as { preconditions: object }).preconditions);
      if (result instanceof Error) return respond(result.status, result.code);
      return respond(result ?? { kind: "Status", apiVersion: "v1", status: "Success" });
    };
    const client = new Client({ transport: loopbackTransport(handler, { username: "gc", groups: [] }), clock: new VirtualClock(), userAgent: "test" });
    const graph = new OwnerGraph();
    graph.put(resources.configMaps, orphan("5"));
    const collector = new Collector({ graph, client, log: silentLog });
    collector.noteGone("gone");
    deepEqual([await collector.attempt("o", new AbortController().signal), sent], [next, deletes]);
  });
}
