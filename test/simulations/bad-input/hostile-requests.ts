/**
 * Requests that nobody in their right mind sends, from a seed: bytes at random, documents cut off or bent, nesting and aliases without end,
 * patches and selectors of absurd size. Bodies stay within 256 KiB, to which the loop's budget applies.
 */
import { typeRegistry } from "../../../src/api/registry.ts";
import { encodeProtobuf } from "../../../src/apimachinery/protobuf/envelope.ts";
import type { JsonObject } from "../../../src/apimachinery/json.ts";
import { jsonToYaml } from "../../../src/apimachinery/yaml/yaml-writer.ts";
import type { Random } from "../../../src/base/random.ts";
import { randomObject } from "../round-trip/random-object.ts";

export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The request of a seed. */
export function hostileRequest(random: Random): HostileRequest {
  const pick = <T>(from: readonly T[]): T => from[random.integer(from.length)]!;
  switch (random.integer(13)) {
    case 0:
      return write(pick, random.bytes(random.integer(400)), pick(mediaTypes));
    case 1:
      return cutOff(random, pick);
    case 2:
      return bent(random, pick);
    case 3:
      return write(pick, Buffer.from(nested(random, pick).slice(0, bodyLimit)), pick(["application/json", "application/yaml"]));
    case 4:
      return write(pick, Buffer.from(bomb(random, pick).slice(0, bodyLimit)), "application/yaml");
    case 5:
      return patch(random, pick);
    case 6:
      return { method: "GET", path: pick(collections), query: query(random, pick), headers: {}, body: new Uint8Array() };
    case 7:
      return {
        method: pick(methods),
        path: oddPath(random, pick),
        query: query(random, pick),
        headers: oddHeaders(pick),
        body: random.bytes(random.integer(50)),
      };
    case 8:
      return write(pick, nestedProtobuf(random), "application/vnd.kubernetes.protobuf");
    case 9:
    case 10:
    case 11:
      return absurd(random, pick);
    default:
      return { ...write(pick, Buffer.from(goodText(random, pick)), "application/json"), headers: oddHeaders(pick), query: query(random, pick) };
  }
}

type Pick = <T>(from: readonly T[]) => T;

const bodyLimit = 256 * 1024;
const object = "/api/v1/namespaces/default/configmaps/there";
const collections = [
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/pods",
  "/api/v1/namespaces/default/pods",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/example.com/v1/namespaces/default/widgets",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
];
const mediaTypes = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
  "text/plain",
  "",
  ";",
  "application/json;charset=\u0000",
];
const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/nothing",
];
const methods = ["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW", ""];

function write(pick: Pick, body: Uint8Array, contentType: string): HostileRequest {
  const isUpdate = pick([true, false]);
  return {
    method: isUpdate ? "PUT" : "POST",
    path: isUpdate ? object : pick(collections),
    query: pick(["", "fieldValidation=Strict", "fieldValidation=Warn"]),
    headers: { "content-type": contentType },
    body,
  };
}

const kinds = [
  ["", "v1", "Pod", "/api/v1/namespaces/default/pods"],
  ["", "v1", "ConfigMap", "/api/v1/namespaces/default/configmaps"],
  ["", "v1", "Service", "/api/v1/namespaces/default/services"],
  ["", "v1", "PersistentVolume", "/api/v1/persistentvolumes"],
  ["apps", "v1", "Deployment", "/apis/apps/v1/namespaces/default/deployments"],
  ["apps", "v1", "StatefulSet", "/apis/apps/v1/namespaces/default/statefulsets"],
  ["batch", "v1", "CronJob", "/apis/batch/v1/namespaces/default/cronjobs"],
  ["networking.k8s.io", "v1", "Ingress", "/apis/networking.k8s.io/v1/namespaces/default/ingresses"],
  ["networking.k8s.io", "v1", "NetworkPolicy", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"],
  ["apiextensions.k8s.io", "v1", "CustomResourceDefinition", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"],
  ["admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"],
  ["admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"],
  ["resource.k8s.io", "v1", "ResourceClaim", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"],
  ["autoscaling", "v2", "HorizontalPodAutoscaler", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"],
] as const;

function goodObject(random: Random, pick: Pick) {
  const [group, version, kind, path] = pick(kinds);
  const schema = typeRegistry.kind(group, version, kind)!;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { schema, apiVersion, kind, path, value: { ...randomObject(schema, random), kind, apiVersion } as JsonObject };
}

function goodText(random: Random, pick: Pick): string {
  return JSON.stringify(goodObject(random, pick).value);
}

/** One of the encodings of an object that was whole, and where it belongs. */
function encoded(random: Random, pick: Pick): { bytes: Uint8Array; type: string; path: string } {
  const { schema, apiVersion, kind, path, value } = goodObject(random, pick);
  switch (random.integer(3)) {
    case 0:
      return { bytes: Buffer.from(JSON.stringify(value)), type: "application/json", path };
    case 1:
      return { bytes: Buffer.from(jsonToYaml(value)), type: "application/yaml", path };
    default:
      return { bytes: encodeProtobuf(value, schema, { apiVersion, kind }), type: "application/vnd.kubernetes.protobuf", path };
  }
}

/** An object that the decoders take, and that no rule of validation has seen. */
function absurd(random: Random, pick: Pick): HostileRequest {
  const { bytes, type, path } = encoded(random, pick);
  return { method: "POST", path, query: pick(["", "dryRun=All", "fieldManager=m"]), headers: { "content-type": type }, body: withName(bytes, type) };
}

/** Most rules are asked only for an object that has a name. */
function withName(bytes: Uint8Array, type: string): Uint8Array {
  if (type !== "application/json") return bytes;
  const value = JSON.parse(Buffer.from(bytes).toString()) as JsonObject;
  return Buffer.from(
    JSON.stringify({ ...value, metadata: { ...(value["metadata"] as JsonObject), name: "absurd", namespace: undefined, resourceVersion: undefined } }),
  );
}

function cutOff(random: Random, pick: Pick): HostileRequest {
  const { bytes, type } = encoded(random, pick);
  return write(pick, bytes.subarray(0, random.integer(bytes.length)), type);
}

function bent(random: Random, pick: Pick): HostileRequest {
  const { bytes, type, path } = encoded(random, pick);
  const copy = Uint8Array.from(bytes);
  for (let count = 1 + random.integer(8); count > 0; count--) copy[random.integer(copy.length)] = random.integer(256);
  return { ...write(pick, copy, type), method: "POST", path };
}

function nested(random: Random, pick: Pick): string {
  const depth = pick([10, 1000, 9000, 9999, 10_001, 40_000, 100_000]);
  const [open, close] = pick([
    ["[", "]"],
    ['{"a":', "}"],
    ["[[],", "]"],
    ['{"a":[', "]}"],
    ["{", "}"],
    ["[", ""],
  ] as const);
  const inner = open.repeat(depth) + (open.endsWith(":") ? "1" : "") + close.repeat(depth);
  const [apiVersion, kind, place] = pick([
    ["v1", "ConfigMap", "data"],
    ["v1", "Pod", "spec"],
    ["example.com/v1", "Widget", "spec"],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec"],
    ["apps/v1", "ControllerRevision", "data"],
  ] as const);
  return pick([inner, `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"n${random.integer(1000)}"},"${place}":${inner}}`]);
}

function bomb(random: Random, pick: Pick): string {
  const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n";
  const width = 2 + random.integer(30);
  switch (random.integer(8)) {
    case 0:
      return `${head}a0: &a0 [x]\n${Array.from({ length: 20 }, (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(width)}]`).join("\n")}\n`;
    case 1:
      return `${head}a0: &a0 {x: y}\n${Array.from({ length: 20 }, (_, level) => `a${level + 1}: &a${level + 1} {<<: *a${level}, k${level}: *a${level}}`).join("\n")}\n`;
    case 2:
      return `${head}data: &a {a: *a}\n`;
    case 3:
      return `${head}${"- ".repeat(10_000)}a\n`;
    case 4:
      return `${head}data:\n${Array.from({ length: 3000 }, (_, depth) => `${" ".repeat(depth % 300)}k${depth}:`).join("\n")}\n`;
    case 5:
      return `${head}data:\n  a: ${pick(["|", ">", '"', "'", "!!binary ", "!!js/function ", "? ", "!<x> "])}${"\n\n \t: x\n".repeat(5000)}`;
    case 6:
      return `${"---\n".repeat(20_000)}${head}`;
    default:
      return `${head}data: {${"? ".repeat(20_000)}}\n${"&a ".repeat(2000)}${"%YAML 1.2\n".repeat(100)}`;
  }
}

function patch(random: Random, pick: Pick): HostileRequest {
  const text = patchText(random, pick);
  return {
    method: "PATCH",
    path: pick([object, "/apis/apps/v1/namespaces/default/deployments/there", "/apis/example.com/v1/namespaces/default/widgets/there"]),
    query: pick(["", "fieldManager=m", "fieldManager=m&force=true"]),
    headers: { "content-type": pick(patchTypes) },
    body: Buffer.from(text.slice(0, bodyLimit)),
  };
}

function patchText(random: Random, pick: Pick): string {
  const path = pick([
    "/data",
    "/data/a",
    "/metadata/labels",
    "",
    "/",
    "/metadata/name",
    `/${"a/".repeat(5000)}`,
    "/data/~2",
    "/-",
    "/spec/-",
    "/metadata/managedFields/0/fieldsV1",
    "/__proto__/x",
    "/constructor/prototype/x",
  ]);
  const op = pick(["add", "copy", "move", "remove", "replace", "test", "grow", ""]);
  switch (random.integer(7)) {
    case 0:
      return JSON.stringify(Array.from({ length: pick([1, 100, 3000, 10_001]) }, () => ({ op, path, from: pick(["/data", "", path]), value: { a: "x" } })));
    case 1:
      return JSON.stringify([
        { op: "add", path: "/data", value: { a: "x".repeat(1000) } },
        ...Array.from({ length: 60 }, () => ({ op: "copy", from: "/data", path: `/data/${pick(["a", "b"])}` })),
      ]);
    case 2:
      return JSON.stringify({ metadata: { labels: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, null])) } });
    case 3:
      return JSON.stringify({
        spec: {
          template: {
            spec: { containers: Array.from({ length: 500 }, (_, index) => ({ name: `c${index % 250}`, $patch: pick(["delete", "merge", "replace", "x"]) })) },
          },
        },
        $setElementOrder: null,
        $retainKeys: [1, {}],
      });
    case 4:
      return nested(random, pick);
    case 5:
      return bomb(random, pick);
    default:
      return goodText(random, pick).slice(0, random.integer(3000));
  }
}

function query(random: Random, pick: Pick): string {
  const long = pick(["a=b,", "a in (b,c),", "!a,", "((((", "a==", "metadata.name=x,", "\\,", "%00", "=", ","]).repeat(pick([1, 50, 4000]));
  const values = [
    long,
    "",
    "-1",
    "0",
    "1",
    "99999999999999999999",
    "1e9",
    "true",
    "null",
    "%zz",
    "%",
    encodeURIComponent("a in (b"),
    encodeURIComponent("🛶"),
    "AAAA",
    Buffer.from('{"v":"meta.k8s.io/v1","rv":-5,"start":"\\u0000"}').toString("base64url"),
    Buffer.from("[".repeat(30_000)).toString("base64url"),
  ];
  const names = [
    "labelSelector",
    "fieldSelector",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds",
    "timeout",
    "pretty",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "watch",
    "allowWatchBookmarks",
    "sendInitialEvents",
    "includeObject",
    "__proto__",
    "propagationPolicy",
    "gracePeriodSeconds",
    "orphanDependents",
  ];
  return Array.from({ length: random.integer(4) }, () => `${pick(names)}=${pick(values)}`)
    .filter((part) => part !== "watch=true" && part !== "watch=1")
    .join("&");
}

function oddPath(random: Random, pick: Pick): string {
  const parts = [
    "api",
    "apis",
    "v1",
    "namespaces",
    "default",
    "configmaps",
    "there",
    "..",
    ".",
    "",
    "%2e%2e",
    "%00",
    "%zz",
    "%",
    "a".repeat(5000),
    "🛶",
    "status",
    "scale",
    "proxy",
    "log",
    "exec",
    "openapi",
    "v3",
    "v2",
    "metrics",
    "healthz",
    "watch",
    "__proto__",
    "constructor",
    "apps",
    "deployments",
    "version",
    "pods",
  ];
  return `/${Array.from({ length: random.integer(9) }, () => pick(parts)).join("/")}`;
}

function oddHeaders(pick: Pick): Record<string, string> {
  const values = [
    "",
    "application/json",
    "application/yaml;as=Table",
    "application/json;as=Table;v=v9;g=meta.k8s.io",
    "*/*;q=0",
    `${"a/b,".repeat(3000)}`,
    ";;;",
    "application/vnd.kubernetes.protobuf;stream=x",
    "\u00ff",
    "gzip;q=x",
  ];
  return {
    "content-type": pick([...mediaTypes, ...patchTypes]),
    accept: pick(values),
    ...pick([
      {},
      { "accept-encoding": pick(values) },
      { "impersonate-user": pick(values) },
      { "impersonate-group": pick(values) },
      { authorization: pick(["Bearer x", "Basic", "Bearer ", "x".repeat(5000)]) },
      { "if-none-match": pick(values) },
      { traceparent: pick(values) },
      { "audit-id": "x".repeat(1000) },
    ]),
  };
}

/** Messages within messages, as deep as the bytes go. */
function nestedProtobuf(random: Random): Uint8Array {
  const field = [0x0a, 0x12, 0x1a, 0x0b, 0x62][random.integer(5)]!;
  let inner: Buffer = Buffer.from(random.bytes(random.integer(20)));
  const levels = [3, 50, 400, 3000][random.integer(4)]!;
  for (let level = 0; level < levels; level++) inner = Buffer.concat([Buffer.from([field, ...varint(inner.length)]), inner]);
  return Buffer.concat([
    Buffer.from("k8s\0"),
    Buffer.from([0x0a, 0x09, 0x0a, 0x02]),
    Buffer.from("v1"),
    Buffer.from([0x12, 0x03]),
    Buffer.from("Pod"),
    Buffer.from([0x12, ...varint(inner.length)]),
    inner,
  ]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}
