import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import {
  createRequest,
  createSubresourceRequest,
  deleteCollectionRequest,
  deleteRequest,
  getRequest,
  listRequest,
  patchRequest,
  rawRequest,
  updateRequest,
  updateSubresourceRequest,
  watchRequest,
} from "./request-builder.ts";
import { metadataOf } from "../resource-type.ts";
import { resources } from "../resources.ts";
import type { RequestValue } from "./request-builder.ts";

const { pods, nodes, deployments, leases } = resources;
const web = { namespace: "a", name: "web" };
const pod = { metadata: { namespace: "a", name: "web" } };

const cases: [name: string, request: RequestValue, line: string, body?: unknown][] = [
  ["get", getRequest(pods, web), "GET /api/v1/namespaces/a/pods/web"],
  ["get a subresource", getRequest(deployments, { ...web, subresource: "scale" }), "GET /apis/apps/v1/namespaces/a/deployments/web/scale"],
  ["get of a cluster-scoped resource ignores a namespace", getRequest(nodes, web), "GET /api/v1/nodes/web"],
  ["names are encoded", getRequest(nodes, { namespace: "", name: "system:a/b" }), "GET /api/v1/nodes/system%3Aa%2Fb"],
  ["list everywhere", listRequest(pods, ""), "GET /api/v1/pods"],
  [
    "list",
    listRequest(pods, "a", { labelSelector: "app in (x,y)", limit: 5, continue: "more" }),
    "GET /api/v1/namespaces/a/pods?continue=more&labelSelector=app+in+%28x%2Cy%29&limit=5",
  ],
  [
    "watch",
    watchRequest(leases, "a", { resourceVersion: "7", allowWatchBookmarks: true, timeoutSeconds: 9 }),
    "GET /apis/coordination.k8s.io/v1/namespaces/a/leases?resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=9&watch=true",
  ],
  [
    "create",
    createRequest(pods, pod, { isDryRun: true, fieldManager: "me" }),
    "POST /api/v1/namespaces/a/pods?dryRun=All&fieldManager=me",
    { kind: "Pod", apiVersion: "v1", ...pod },
  ],
  [
    "create keeps the object's own kind",
    createRequest(pods, { kind: "Other", ...pod }),
    "POST /api/v1/namespaces/a/pods",
    { kind: "Other", apiVersion: "v1", ...pod },
  ],
  [
    "bind",
    createSubresourceRequest(pods, { ...web, subresource: "binding" }, { kind: "Binding" }),
    "POST /api/v1/namespaces/a/pods/web/binding",
    { kind: "Binding" },
  ],
  ["update", updateRequest(pods, pod), "PUT /api/v1/namespaces/a/pods/web", { kind: "Pod", apiVersion: "v1", ...pod }],
  [
    "update the status",
    updateRequest(pods, pod, { subresource: "status" }),
    "PUT /api/v1/namespaces/a/pods/web/status",
    { kind: "Pod", apiVersion: "v1", ...pod },
  ],
  [
    "update the scale",
    updateSubresourceRequest(deployments, { ...web, subresource: "scale" }, { kind: "Scale" }),
    "PUT /apis/apps/v1/namespaces/a/deployments/web/scale",
    { kind: "Scale" },
  ],
  [
    "apply",
    patchRequest(pods, web, { type: "apply", body: pod, isForced: true }, { fieldManager: "me" }),
    "PATCH /api/v1/namespaces/a/pods/web?fieldManager=me&force=true",
    pod,
  ],
  [
    "delete",
    deleteRequest(pods, web, { gracePeriodSeconds: 0, preconditions: { uid: "u" } }),
    "DELETE /api/v1/namespaces/a/pods/web",
    { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0, preconditions: { uid: "u" } },
  ],
  [
    "delete, dry run",
    deleteRequest(pods, web, { isDryRun: true }),
    "DELETE /api/v1/namespaces/a/pods/web",
    { kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] },
  ],
  [
    "delete a collection",
    deleteCollectionRequest(pods, "a", { labelSelector: "x" }),
    "DELETE /api/v1/namespaces/a/pods?labelSelector=x",
    { kind: "DeleteOptions", apiVersion: "v1" },
  ],
  ["any path", rawRequest("/apis?timeout=32s"), "GET /apis?timeout=32s"],
];

for (const [name, request, line, body] of cases) {
  test(`request: ${name}`, () => {
    const shown = `${request.method} ${request.path}${request.query === "" ? "" : `?${request.query}`}`;
    const sent: unknown = request.body.length === 0 ? undefined : JSON.parse(Buffer.from(request.body).toString());
    deepEqual([shown, sent], [line, body]);
  });
}

const contentTypes: [Parameters<typeof patchRequest>[2]["type"], string][] = [
  ["merge", "application/merge-patch+json"],
  ["strategic", "application/strategic-merge-patch+json"],
  ["json", "application/json-patch+json"],
  ["apply", "application/apply-patch+yaml"],
];
test("request: content types of patches", () => {
  deepEqual(
    contentTypes.map(([type]) => patchRequest(pods, web, { type, body: {} }).headers["content-type"]),
    contentTypes.map(([, contentType]) => contentType),
  );
});

test("request: metadata only", () => {
  deepEqual(
    [listRequest(metadataOf(pods), "").headers["accept"], watchRequest(metadataOf(pods), "").headers["accept"]],
    ["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"],
  );
});
