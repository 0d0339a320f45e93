import { test } from "node:test";
import { deepEqual, throws } from "node:assert/strict";
import { parseWriteOptions } from "./options.ts";

test("write options: what a query asks for", () => {
  const nothing = { isDryRun: false, fieldManager: "", fieldValidation: "Warn", force: false };
  const table: [query: string, expected: object][] = [
    ["", {}],
    ["dryRun=All", { isDryRun: true }],
    ["fieldManager=kubectl%20x", { fieldManager: "kubectl x" }],
    ["fieldValidation=Strict", { fieldValidation: "Strict" }],
    ["fieldValidation=", {}],
  ];
  for (const [query, expected] of table) deepEqual(parseWriteOptions(new URLSearchParams(query), "CreateOptions"), { ...nothing, ...expected }, query);
  deepEqual(parseWriteOptions(new URLSearchParams("fieldManager=a&force=true"), "PatchOptions", true), { ...nothing, fieldManager: "a", force: true });
});

test("write options: all faults at once", () => {
  const table: [kind: "CreateOptions" | "UpdateOptions" | "PatchOptions", query: string, isApply: boolean, message: RegExp][] = [
    ["CreateOptions", "dryRun=None", false, /^CreateOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: \["None"\]: supported values: "All"$/],
    [
      "UpdateOptions",
      "fieldValidation=strict",
      false,
      /^UpdateOptions\.meta\.k8s\.io "" is invalid: fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"$/,
    ],
    ["CreateOptions", `fieldManager=${"a".repeat(129)}`, false, /fieldManager: Too long: may not be more than 128 bytes$/],
    ["CreateOptions", "fieldManager=a%07b", false, /fieldManager: Invalid value: "a\\ab": invalid character U\+0007 \(at position 1\)$/],
    ["PatchOptions", "force=false", false, /force: Forbidden: may not be specified for non-apply patch$/],
    ["PatchOptions", "", true, /fieldManager: Required value: is required for apply patch$/],
    ["CreateOptions", "dryRun=x&fieldValidation=y", false, /is invalid: \[dryRun: .*, fieldValidation: .*\]$/],
  ];
  for (const [kind, query, isApply, message] of table)
    throws(() => parseWriteOptions(new URLSearchParams(query), kind, isApply), { code: 422, message }, query);
});
