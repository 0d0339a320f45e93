/**
 * Every route of discovery, asked as three who have no rights of their own: anonymous, somebody who is merely known, a node. What gets past
 * authorization must be what a fresh v1.37 cluster lets past (recordings `access/matrix-*.json`), and nothing else.
 */
import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { ApiResponse, UserInfo } from "../../src/apimachinery/request.ts";
import { ask } from "../../src/testing/ask.ts";
import { TestCluster } from "../../src/testing/cluster.ts";

interface Route {
  /** `GROUP/RESOURCE[/SUBRESOURCE]`; the core group has no name. */
  readonly resource: string;
  readonly verb: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
}

const methods: Readonly<Record<string, string>> = {
  get: "GET",
  list: "GET",
  watch: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};
const ofCollections: ReadonlySet<string> = new Set(["list", "watch", "create", "deletecollection"]);

interface DiscoveredResource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

async function routesOf(cluster: TestCluster): Promise<Route[]> {
  const groups = (await ask(cluster, "GET", "/apis")).json["groups"] as unknown as { versions: { groupVersion: string }[] }[];
  const roots = ["/api/v1", ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`))];
  const routes: Route[] = [];
  for (const root of roots) {
    const group = root.split("/").slice(2, -1).join("/");
    const { resources } = (await ask(cluster, "GET", root)).json as unknown as { resources: DiscoveredResource[] };
    for (const resource of resources) routes.push(...resource.verbs.map((verb) => routeOf(root, group, resource, verb)));
  }
  return routes;
}

function routeOf(root: string, group: string, { name, namespaced }: DiscoveredResource, verb: string): Route {
  const [resource = "", subresource] = name.split("/");
  const isCollection = subresource === undefined && ofCollections.has(verb);
  const path = [
    root,
    ...(namespaced ? ["namespaces", "default"] : []),
    resource,
    ...(isCollection ? [] : ["crawled"]),
    ...(subresource === undefined ? [] : [subresource]),
  ].join("/");
  // A version that cannot be read ends a watch before it begins.
  return {
    resource: `${group === "" ? "" : `${group}/`}${name}`,
    verb,
    method: methods[verb]!,
    path,
    query: verb === "watch" ? "watch=true&resourceVersion=none" : "",
  };
}

type Send = (route: Pick<Route, "method" | "path" | "query">) => Promise<ApiResponse>;

async function letPast(routes: readonly Route[], send: Send): Promise<Record<string, string>> {
  const found = new Map<string, Set<string>>();
  for (const route of routes) {
    const { status, body } = await send(route);
    const text = body.kind === "bytes" ? Buffer.from(body.bytes).toString() : "";
    // What admission refuses has been let past authorization.
    if (status === 401 || (status === 403 && / cannot \w+ resource /.test(text))) continue;
    found.set(route.resource, (found.get(route.resource) ?? new Set()).add(route.verb));
  }
  return Object.fromEntries([...found].map(([resource, verbs]) => [resource, [...verbs].sort().join(" ")]));
}

const senderAs =
  (cluster: TestCluster, user: UserInfo | undefined): Send =>
  ({ method, path, query }) =>
    cluster.handle({
      method,
      path,
      query,
      headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
      body: new Uint8Array(Buffer.from(method === "GET" ? "" : "{}")),
      peer: { address: "192.0.2.1", isHttp2: false, ...(user !== undefined && { identity: user }) },
      signal: new AbortController().signal,
    });

const reviewsOfOneself = {
  "authentication.k8s.io/selfsubjectreviews": "create",
  "authorization.k8s.io/selfsubjectaccessreviews": "create",
  "authorization.k8s.io/selfsubjectrulesreviews": "create",
};

test("security: a crawl over every route finds open what a fresh cluster opens, and nothing else", async () => {
  await using cluster = await TestCluster.start();
  const routes = await routesOf(cluster);
  deepEqual(await letPast(routes, senderAs(cluster, undefined)), {}, "anonymous");
  deepEqual(await letPast(routes, senderAs(cluster, { username: "nobody", groups: ["system:authenticated"] })), reviewsOfOneself, "somebody");
  deepEqual(
    await letPast(routes, senderAs(cluster, { username: "system:node:n1", groups: ["system:nodes", "system:authenticated"] })),
    {
      endpoints: "get",
      events: "create patch update",
      nodes: "create patch update",
      "nodes/status": "patch update",
      pods: "create delete",
      "pods/eviction": "create",
      "pods/status": "patch update",
      services: "get list watch",
      "events.k8s.io/events": "create patch update",
      ...reviewsOfOneself,
      "authentication.k8s.io/tokenreviews": "create",
      "authorization.k8s.io/localsubjectaccessreviews": "create",
      "authorization.k8s.io/subjectaccessreviews": "create",
      "certificates.k8s.io/certificatesigningrequests": "create get list watch",
      "certificates.k8s.io/clustertrustbundles": "get list watch",
      "certificates.k8s.io/podcertificaterequests": "create",
      "node.k8s.io/runtimeclasses": "get list watch",
      "storage.k8s.io/csidrivers": "get list watch",
      "storage.k8s.io/csinodes": "create",
      "resource.k8s.io/resourceslices": "create",
    },
    "a node",
  );
});

test("security: of paths that are no resources nobody finds more than health, version and how to log in", async () => {
  await using cluster = await TestCluster.start();
  const paths = (await ask(cluster, "GET", "/")).json["paths"] as unknown as string[];
  const open = async (send: Send) => {
    const found: string[] = [];
    for (const path of paths) if ((await send({ method: "GET", path, query: "" })).status !== 403) found.push(path);
    return found;
  };
  const health = paths.filter((path) => /^\/(healthz|livez|readyz)$/.test(path));
  deepEqual(await open(senderAs(cluster, undefined)), [...health, "/version"].sort());
  const discovered = paths.filter((path) => /^\/(api|apis|openapi|version|healthz|livez|readyz)(\/|$)/.test(path) && !/^\/(healthz|livez|readyz)\//.test(path));
  deepEqual(await open(senderAs(cluster, { username: "nobody", groups: ["system:authenticated"] })), discovered.sort());
});
