import { test } from "node:test";
import { deepEqual, throws } from "node:assert/strict";
import { encodeContinue } from "./continue-token.ts";
import { matchErrors, parseListOptions } from "./list-options.ts";

test("list options: what a query asks for", () => {
  const nothing = { revision: undefined, isExact: false, limit: 0, continueToken: "" };
  const table: [query: string, expected: Partial<ReturnType<typeof parseListOptions>>][] = [
    ["", {}],
    ["limit=5", { limit: 5 }],
    ["limit=-5", { limit: 0 }],
    ["limit=5&resourceVersion=0", { limit: 0 }],
    ["resourceVersion=7", { revision: 7 }],
    ["resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=5", { revision: 7, limit: 5 }],
    ["resourceVersion=7&resourceVersionMatch=Exact", { revision: 7, isExact: true }],
    // A page at a version is a page of that version.
    ["resourceVersion=7&limit=5", { revision: 7, limit: 5, isExact: true }],
    ["continue=abc&limit=5", { continueToken: "abc", limit: 5 }],
    ["continue=abc&resourceVersion=0", { continueToken: "abc" }],
  ];
  for (const [query, expected] of table) deepEqual(parseListOptions(new URLSearchParams(query)), { ...nothing, ...expected }, query);
});

test("list options: refusals", () => {
  const table: [query: string, code: number, message: RegExp][] = [
    ["limit=x", 400, /^strconv\.ParseInt: parsing "x": invalid syntax$/],
    ["timeoutSeconds=1.5", 400, /^strconv\.ParseInt: parsing "1\.5": invalid syntax$/],
    ["resourceVersion=x", 400, /^invalid resource version: resourceVersion: Invalid value: "x": strconv\.ParseUint: parsing "x": invalid syntax$/],
    ["resourceVersion=99999999999999999999", 400, /value out of range$/],
    ["resourceVersion=5&continue=bogus", 400, /^invalid continue token: continue key is not valid: illegal base64 data at input byte 4$/],
    [`resourceVersion=5&continue=${encodeContinue(5, "a")}`, 400, /^specifying resource version is not allowed when using continue$/],
    ["resourceVersionMatch=Exact", 422, /resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided/],
    ["resourceVersionMatch=Exact&resourceVersion=0", 422, /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/],
    ["resourceVersionMatch=Newest&resourceVersion=5", 422, /Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""/],
    ["sendInitialEvents=true", 422, /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list/],
  ];
  for (const [query, code, message] of table) throws(() => parseListOptions(new URLSearchParams(query)), { code, message }, query);
});

test("list options: rules of watches", () => {
  const table: [match: string, sendsInitial: string | null, continueToken: string, fields: string[]][] = [
    ["", null, "", []],
    ["NotOlderThan", "true", "", []],
    ["NotOlderThan", "false", "", []],
    ["NotOlderThan", null, "", ["resourceVersionMatch"]],
    ["", "true", "", ["resourceVersionMatch"]],
    ["Exact", "true", "", ["resourceVersionMatch", "resourceVersionMatch"]],
    ["", null, "abc", ["resourceVersionMatch"]],
  ];
  for (const [match, sendsInitial, continueToken, fields] of table) {
    deepEqual(
      matchErrors({ version: "", match, continueToken, isWatch: true, sendsInitial }).map(({ field }) => field),
      fields,
      `${match} ${sendsInitial} ${continueToken}`,
    );
  }
});
