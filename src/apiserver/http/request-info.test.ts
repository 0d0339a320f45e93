import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { isLongRunning } from "./long-running.ts";
import { isTrue, parseRequestInfo } from "./request-info.ts";

/** `verb group/version namespace resource/subresource name`, `-` for what is empty. */
function summary(method: string, target: string): string {
  const [path = "", query = ""] = target.split("?");
  const info = parseRequestInfo(method, path, new URLSearchParams(query));
  if (!info.isResourceRequest) return `${info.verb} ${info.path}`;
  const or = (text: string) => text || "-";
  return [
    info.verb,
    `${or(info.group)}/${info.version}`,
    or(info.namespace),
    info.subresource === "" ? or(info.resource) : `${info.resource}/${info.subresource}`,
    or(info.name),
  ].join(" ");
}

test("request info: paths, methods and verbs", () => {
  const table: [method: string, target: string, expected: string][] = [
    ["GET", "/api/v1/namespaces/a/pods", "list -/v1 a pods -"],
    ["GET", "/api/v1/namespaces/a/pods/", "list -/v1 a pods -"],
    ["GET", "//api/v1/pods", "list -/v1 - pods -"],
    ["GET", "/api/v1/namespaces/a/pods?watch=true", "watch -/v1 a pods -"],
    ["GET", "/api/v1/namespaces/a/pods?watch=false", "list -/v1 a pods -"],
    ["GET", "/api/v1/namespaces/a/pods/web", "get -/v1 a pods web"],
    ["HEAD", "/api/v1/namespaces/a/pods/web", "get -/v1 a pods web"],
    ["GET", "/api/v1/namespaces/a/pods/web?watch=true", "get -/v1 a pods web"],
    ["GET", "/api/v1/namespaces/a/pods/web/log", "get -/v1 a pods/log web"],
    ["POST", "/api/v1/namespaces/a/pods", "create -/v1 a pods -"],
    ["PUT", "/api/v1/namespaces/a/pods/web/status", "update -/v1 a pods/status web"],
    ["PATCH", "/apis/apps/v1/namespaces/a/deployments/web", "patch apps/v1 a deployments web"],
    ["DELETE", "/apis/apps/v1/namespaces/a/deployments/web", "delete apps/v1 a deployments web"],
    ["DELETE", "/apis/apps/v1/namespaces/a/deployments", "deletecollection apps/v1 a deployments -"],
    ["GET", "/api/v1/namespaces", "list -/v1 - namespaces -"],
    ["GET", "/api/v1/namespaces/a", "get -/v1 a namespaces a"],
    ["PUT", "/api/v1/namespaces/a/finalize", "update -/v1 a namespaces/finalize a"],
    ["PUT", "/api/v1/namespaces/a/status", "update -/v1 a namespaces/status a"],
    ["GET", "/api/v1/watch/namespaces/a/pods", "watch -/v1 a pods -"],
    ["GET", "/api/v1/watch/namespaces/a/pods/web", "watch -/v1 a pods web"],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Dweb", "list -/v1 - pods web"],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da%2Fb", "list -/v1 - pods -"],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name%3D%3D%3D", "list -/v1 - pods -"],
    ["GET", "/api/v1/namespaces/a%2Fpods/web", "get -/v1 a pods web"],
    ["GET", "/api/v1/nodes/n%20x", "get -/v1 - nodes n x"],
    ["GET", "/api", "get /api"],
    ["GET", "/api/v1", "get /api/v1"],
    ["GET", "/apis/apps/v1", "get /apis/apps/v1"],
    ["POST", "/healthz", "post /healthz"],
    ["GET", "/", "get /"],
    ["BREW", "/api/v1/pods", " -/v1 - pods -"],
  ];
  for (const [method, target, expected] of table) equal(summary(method, target), expected, `${method} ${target}`);
});

test("request info: a broken escape is told", () => {
  throws(() => parseRequestInfo("GET", "/api/v1/pods/%zz", new URLSearchParams()), URIError);
});

test("request info: flags of the query", () => {
  deepEqual([null, "", "true", "1", "yes", "false", "FALSE", "0"].map(isTrue), [false, true, true, true, true, false, false, false]);
});

test("request info: what lasts as long as the client wants", () => {
  const table: [target: string, expected: boolean][] = [
    ["/api/v1/pods", false],
    ["/api/v1/pods?watch=1", true],
    ["/api/v1/namespaces/a/pods/web", false],
    ["/api/v1/namespaces/a/pods/web?watch=1", true],
    ["/api/v1/namespaces/a/pods/web/log", true],
    ["/api/v1/namespaces/a/pods/web/exec", true],
    ["/api/v1/namespaces/a/pods/web/status", false],
  ];
  for (const [target, expected] of table) {
    const [path = "", text = ""] = target.split("?");
    const query = new URLSearchParams(text);
    equal(isLongRunning({ info: parseRequestInfo("GET", path, query), query }), expected, target);
  }
});
