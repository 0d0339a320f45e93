import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../apimachinery/json.ts";
import types from "../../api/data/types.json" with { type: "json" };
import type { CompactType } from "../../apimachinery/schema.ts";
import type { Cacher } from "../cache/cacher.ts";
import { builtInDefinitions } from "../registry/built-in.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { ResourceTable } from "../registry/resource-table.ts";
import { describeColumn } from "./column-descriptions.ts";
import { Descriptions } from "./descriptions.ts";
import { OpenApiDocuments } from "./documents.ts";
import type { OpenApiDocument } from "./documents.ts";
import { groupWord } from "./operations.ts";
import { atOnce } from "../../base/pacer.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { encodeDocument } from "./protobuf/encode-document.ts";
import { messagesV2 } from "./protobuf/messages-v2.ts";
import { messagesV3 } from "./protobuf/messages-v3.ts";
import { TypeDefinitions } from "./type-definitions.ts";

const descriptions = new Descriptions(() => ({
  source: "test",
  types: { "api.core.v1.Pod": { "": "A pod.", spec: "What it runs." } },
  parameters: { limit: "At most.", "Patch.fieldManager": "Who applies." },
}));

function builtIn(): ResourceTable {
  const table = new ResourceTable();
  const cacher = { cache: () => ({}) } as unknown as Cacher;
  for (const definition of builtInDefinitions({
    cacher,
    storageRoot: "/registry/",
    eventTtlSeconds: 3600,
    versions: { runtimeConfig: {}, emulatedVersion: "1.37", isEnabled: () => false },
  }))
    table.add(definition);
  return table;
}

test("types in both dialects", () => {
  const definitions = new TypeDefinitions({ types: types as unknown as Record<string, CompactType>, descriptions, hasEnums: true });
  const table: [type: string, field: string, v2: JsonObject, v3: JsonObject][] = [
    [
      "api.core.v1.Pod",
      "spec",
      { description: "What it runs.", $ref: "#/definitions/io.k8s.api.core.v1.PodSpec" },
      { description: "What it runs.", default: {}, allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.PodSpec" }] },
    ],
    ["api.core.v1.EnvVar", "name", { type: "string" }, { type: "string", default: "" }],
    ["api.core.v1.EnvVar", "value", { type: "string" }, { type: "string" }],
    [
      "api.core.v1.ContainerPort",
      "protocol",
      { type: "string", enum: ["SCTP", "TCP", "UDP"] },
      { type: "string", default: "TCP", enum: ["SCTP", "TCP", "UDP"] },
    ],
    ["api.apps.v1.DeploymentSpec", "replicas", { type: "integer", format: "int32" }, { type: "integer", format: "int32" }],
    [
      "apimachinery.pkg.apis.meta.v1.ObjectMeta",
      "creationTimestamp",
      { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time" },
      { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time" },
    ],
  ];
  for (const [type, field, v2, v3] of table) {
    assert.deepEqual((definitions.definition(type, "v2")["properties"] as JsonObject)[field], v2, `${type}.${field} in v2`);
    assert.deepEqual((definitions.definition(type, "v3")["properties"] as JsonObject)[field], v3, `${type}.${field} in v3`);
  }
  const withoutEnums = new TypeDefinitions({ types: types as unknown as Record<string, CompactType>, descriptions, hasEnums: false });
  assert.ok(!JSON.stringify(withoutEnums.definition("api.core.v1.ContainerPort", "v3")).includes("enum"));
});

test("operations have Kubernetes' names", async () => {
  const body = bodyOf(await new OpenApiDocuments(builtIn(), descriptions, { clock: new VirtualClock(), hasEnums: true }).v2());
  const table: [path: string, method: string, operationId: string, description: string][] = [
    ["/api/v1/namespaces/{namespace}/pods", "get", "listCoreV1NamespacedPod", "list or watch objects of kind Pod"],
    ["/api/v1/pods", "get", "listCoreV1PodForAllNamespaces", "list or watch objects of kind Pod"],
    ["/api/v1/namespaces/{namespace}/pods/{name}/eviction", "post", "createCoreV1NamespacedPodEviction", "create eviction of a Pod"],
    ["/api/v1/nodes/{name}/proxy/{path}", "head", "connectCoreV1HeadNodeProxyWithPath", "connect HEAD requests to proxy of Node"],
    ["/apis/rbac.authorization.k8s.io/v1/clusterroles", "delete", "deleteRbacAuthorizationV1CollectionClusterRole", "delete collection of ClusterRole"],
    ["/apis/apiregistration.k8s.io/v1/apiservices", "post", "createApiregistrationV1APIService", "create an APIService"],
    [
      "/apis/apps/v1/watch/deployments",
      "get",
      "watchAppsV1DeploymentListForAllNamespaces",
      "watch individual changes to a list of Deployment. deprecated: use the 'watch' parameter with a list operation instead.",
    ],
  ];
  for (const [path, method, operationId, description] of table) {
    const operation = ((body["paths"] as JsonObject)[path] as JsonObject)[method] as JsonObject;
    assert.deepEqual([operation["operationId"], operation["description"]], [operationId, description], path);
  }
  assert.equal(groupWord("flowcontrol.apiserver.k8s.io"), "FlowcontrolApiserver");
  assert.equal(groupWord("cr-openapi.example.com"), "CrOpenapiExampleCom");
});

test("every reference leads somewhere", async () => {
  const documents = new OpenApiDocuments(builtIn(), descriptions, { clock: new VirtualClock(), hasEnums: true });
  const references = (value: unknown) => new Set([...JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!));
  const body = bodyOf(await documents.v2());
  for (const reference of references(body)) {
    const [, section, name] = reference.split("/");
    assert.ok(Object.hasOwn(body[section!] as JsonObject, name!), reference);
  }
  for (const path of ["api/v1", "apis/apps/v1", "version"]) {
    const document = bodyOf(await documents.v3(path));
    for (const reference of references(document))
      assert.ok(Object.hasOwn((document["components"] as JsonObject)["schemas"] as JsonObject, reference.split("/").at(-1)!), reference);
  }
});

test("custom resources come and go, and hashes with them", async () => {
  const table = builtIn();
  const documents = new OpenApiDocuments(table, descriptions, { clock: new VirtualClock(), hasEnums: true });
  const before = documents.hash("");
  const pods = table.find("", "v1", "pods")!;
  const schema: JsonObject = {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer", nullable: true }, port: { "x-kubernetes-int-or-string": true } } } },
  };
  const widgets: ResourceDefinition = {
    ...pods,
    group: "example.com",
    version: "v1",
    resource: "widgets",
    kind: "Widget",
    listKind: "WidgetList",
    isCustom: true,
    subresources: new Map(),
    openApiSchema: schema,
  };
  table.add(widgets);
  assert.notEqual(documents.hash(""), before);
  const body = bodyOf(await documents.v3("apis/example.com/v1"));
  const spec = (
    ((((body["components"] as JsonObject)["schemas"] as JsonObject)["com.example.v1.Widget"] as JsonObject)["properties"] as JsonObject)["spec"] as JsonObject
  )["properties"];
  assert.deepEqual(spec, {
    size: { type: "integer", nullable: true },
    port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
  });
  const inV2 = (
    (((bodyOf(await documents.v2())["definitions"] as JsonObject)["com.example.v1.Widget"] as JsonObject)["properties"] as JsonObject)["spec"] as JsonObject
  )["properties"];
  assert.deepEqual(inV2, { size: {}, port: { "x-kubernetes-int-or-string": true } });
  table.remove("example.com", "v1", "widgets");
  assert.equal(documents.v3("apis/example.com/v1"), undefined);
  assert.equal(documents.hash(""), before);
});

test("protobuf holds fields by number", () => {
  const v2 = Buffer.from(atOnce(encodeDocument({ swagger: "2.0", definitions: { A: { type: "object", "x-k": [1] } } }, messagesV2)));
  // NamedSchema "A" holds a TypeItem (22) and an extension (31) whose value is YAML text.
  assert.equal(v2.toString("hex"), "0a03322e304a220a200a0141121bb201080a066f626a656374fa010d0a03782d6b120612045b315d0a");
  const v3 = Buffer.from(atOnce(encodeDocument({ openapi: "3.0.0", info: { title: "T", version: "1" }, paths: {} }, messagesV3)));
  assert.equal(v3.toString("latin1"), "\x0a\x053.0.0\x12\x06\x0a\x01T\x32\x011\x22\x00");
});

test("columns are described by their fields", () => {
  const texts = new Descriptions(() => ({
    source: "",
    types: { "apimachinery.pkg.apis.meta.v1.ObjectMeta": { name: "N" }, "api.core.v1.PodStatus": { podIP: "I" } },
    parameters: {},
  }));
  assert.equal(describeColumn("pods", "Name", texts), "N");
  assert.equal(describeColumn("pods", "IP", texts), "I");
  assert.equal(describeColumn("pods", "Status", texts), "The aggregate status of the containers in this pod.");
  assert.equal(describeColumn("pods", "None such", texts), "");
});

function bodyOf(document: OpenApiDocument | undefined): JsonObject {
  return JSON.parse(Buffer.from(document!.json).toString()) as JsonObject;
}
