import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { decodeContinue, encodeContinue, expiredContinue } from "./continue-token.ts";

const encoded = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const v = "meta.k8s.io/v1";

test("continue tokens: come back as they were made", () => {
  for (const [revision, start] of [
    [7, "a/web\0"],
    [-1, "ü\0"],
    [9_007_199_254_740_991, "a"],
  ] as const)
    deepEqual(decodeContinue(encodeContinue(revision, start)), { revision, start });
});

test("continue tokens: what is none is refused", () => {
  const table: [token: string, fault: RegExp][] = [
    ["a+b", /illegal base64 data at input byte 1$/],
    ["abcde", /illegal base64 data at input byte 4$/],
    [encoded("nonsense"), /invalid character/],
    [encoded({ v: "meta.k8s.io/v9", rv: 1, start: "a" }), /does not recognize this encoded version meta\.k8s\.io\/v9$/],
    [encoded({}), /does not recognize this encoded version $/],
    [encoded({ v, start: "a" }), /incorrect encoded start resourceVersion \(version meta\.k8s\.io\/v1\)$/],
    [encoded({ v, rv: 0, start: "a" }), /incorrect encoded start resourceVersion/],
    [encoded({ v, rv: "1", start: "a" }), /json: cannot unmarshal string into Go struct field continueToken\.rv of type int64$/],
    [encoded({ v, rv: 1 }), /encoded start key empty \(version meta\.k8s\.io\/v1\)$/],
    [encoded({ v, rv: 1, start: "../secrets/a" }), /\.\.\/secrets\/a$/],
    [encoded("null"), /does not recognize this encoded version $/],
    [encoded("[]"), /json: cannot unmarshal array into Go value of type storage\.continueToken$/],
    [encoded({ v, rv: 1, start: 5 }), /json: cannot unmarshal number into Go struct field continueToken\.start of type string$/],
  ];
  for (const [token, message] of table)
    throws(
      () => decodeContinue(token),
      { code: 400, reason: "BadRequest", message: new RegExp(`^invalid continue token: continue key is not valid: .*${message.source}`) },
      token,
    );
});

test("continue tokens: an expired list may be gone on with", () => {
  const { status } = expiredContinue("token");
  equal(status.code, 410);
  deepEqual(status.metadata, { continue: "token" });
  equal(expiredContinue(undefined).status.message, "The resourceVersion for the provided list is too old.");
});
