import { test } from "node:test";
import { deepEqual, throws } from "node:assert/strict";
import type { RequestContext } from "../request-context.ts";
import { encodeProtobuf } from "../../apimachinery/protobuf/envelope.ts";
import { typeRegistry } from "../../api/registry.ts";
import { parseDeleteOptions } from "./delete-options.ts";

const nothing = {
  isDryRun: false,
  gracePeriodSeconds: undefined,
  orphanDependents: undefined,
  propagationPolicy: undefined,
  preconditions: undefined,
  ignoresReadErrors: false,
};

function parse(query: string, body: string | Uint8Array = "", contentType = "application/json") {
  return parseDeleteOptions({
    query: new URLSearchParams(query),
    request: { body: Buffer.from(body), headers: { "content-type": contentType } },
  } as unknown as RequestContext);
}

test("delete options: from the query, or from the body alone", () => {
  const table: [query: string, body: string, expected: object][] = [
    ["", "", {}],
    ["gracePeriodSeconds=5&propagationPolicy=Foreground&dryRun=All", "", { gracePeriodSeconds: 5, propagationPolicy: "Foreground", isDryRun: true }],
    ["orphanDependents=false", "", { orphanDependents: false }],
    ["gracePeriodSeconds=5", "{}", {}],
    [
      "",
      '{"gracePeriodSeconds":0,"preconditions":{"uid":"u","resourceVersion":"7"}}',
      { gracePeriodSeconds: 0, preconditions: { uid: "u", resourceVersion: "7" } },
    ],
    ["", '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan","dryRun":["All"]}', { propagationPolicy: "Orphan", isDryRun: true }],
    ["ignoreStoreReadErrorWithClusterBreakingPotential=true", "", { ignoresReadErrors: true }],
  ];
  for (const [query, body, expected] of table) deepEqual(parse(query, body), { ...nothing, ...expected }, `${query} ${body}`);
  deepEqual(parse("", "gracePeriodSeconds: 3\n", "application/yaml"), { ...nothing, gracePeriodSeconds: 3 });
});

test("delete options: in protobuf, of whatever group and version the client names", () => {
  const schema = typeRegistry.struct("apimachinery.pkg.apis.meta.v1.DeleteOptions")!;
  const encoded = (apiVersion: string, kind: string) =>
    encodeProtobuf({ gracePeriodSeconds: 3, propagationPolicy: "Foreground" }, schema, { apiVersion, kind });
  const expected = { ...nothing, gracePeriodSeconds: 3, propagationPolicy: "Foreground" };
  for (const apiVersion of ["v1", "apps/v1", "meta.k8s.io/v1"])
    deepEqual(parse("", encoded(apiVersion, "DeleteOptions"), "application/vnd.kubernetes.protobuf"), expected);
  throws(() => parse("", encoded("v1", "Pod"), "application/vnd.kubernetes.protobuf"), { code: 400, message: /cannot be converted to DeleteOptions/ });
  throws(() => parse("", "{}", "application/vnd.kubernetes.protobuf"), { code: 400, message: /expected prefix/ });
});

test("delete options: refusals", () => {
  const table: [query: string, body: string, code: number, message: RegExp][] = [
    ["gracePeriodSeconds=x", "", 400, /^strconv\.ParseInt: parsing "x": invalid syntax$/],
    ["propagationPolicy=Never", "", 422, /propagationPolicy: Unsupported value: "Never": supported values: /],
    ["propagationPolicy=Orphan&orphanDependents=true", "", 422, /orphanDependents and deletionPropagation cannot be both set/],
    ["dryRun=Some", "", 422, /dryRun: Unsupported value: \["Some"\]: supported values: "All"/],
    ["", '{"kind":"Pod","apiVersion":"v1"}', 400, /cannot be converted to DeleteOptions/],
    ["", "{", 400, /./],
    ["", '{"gracePeriodSeconds":"x"}', 400, /./],
  ];
  for (const [query, body, code, message] of table) throws(() => parse(query, body), { code, message }, `${query} ${body}`);
});
