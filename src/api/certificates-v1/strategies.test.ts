import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { fieldErrorText } from "../../apimachinery/field-error.ts";
import type { RuleContext } from "../strategy.ts";
import { certificateSigningRequests } from "./certificatesigningrequest.ts";
import { clusterTrustBundles } from "./clustertrustbundle.ts";
import { decodePem } from "./pem.ts";
import { validateSignerName } from "./signer-name.ts";
import type { CertificateSigningRequest } from "./types.ts";

const context = { nowMs: Date.parse("2026-01-01T00:00:00Z"), user: { username: "jane", groups: ["devs"], extra: { k: ["v"] } } } as unknown as RuleContext;
const made = (conditions?: { type: string; status: string }[]): CertificateSigningRequest => ({
  metadata: { name: "x" },
  spec: { request: "", signerName: "e.com/s", usages: ["any"] },
  ...(conditions !== undefined && { status: { conditions } }),
});

test("PEM blocks, with and without headers", () => {
  const text =
    "before\n-----BEGIN A-----\nAAEC\n-----END A-----\n-----BEGIN B C-----\nX: y\n\nAA==\n-----END B C-----\n-----BEGIN D-----\n!!\n-----END D-----\n";
  assert.deepEqual(
    decodePem(text).map(({ type, hasHeaders, bytes }) => [type, hasHeaders, bytes.length]),
    [
      ["A", false, 3],
      ["B C", true, 1],
    ],
  );
});

test("signer names", () => {
  const path = FieldPath.root("s");
  assert.deepEqual(validateSignerName("example.com/s", path), []);
  assert.deepEqual(validateSignerName("a/b", path).map(fieldErrorText), [
    's: Invalid value: "a": should be a domain with at least two segments separated by dots',
  ]);
  assert.deepEqual(validateSignerName("bad", path).map(fieldErrorText), [
    "s: Invalid value: \"bad\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
  ]);
});

test("a request is signed by who makes it", () => {
  const request = made([{ type: "Approved", status: "True" }]);
  request.spec.username = "somebody";
  certificateSigningRequests.create.prepare?.(request, context);
  assert.deepEqual([request.spec.username, request.spec.groups, request.spec.extra, request.status], ["jane", ["devs"], { k: ["v"] }, undefined]);
  assert.deepEqual(certificateSigningRequests.create.validate?.(request, context).map(fieldErrorText), [
    'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST',
  ]);
});

test("approval comes through its own path, once", () => {
  const approval = certificateSigningRequests.subresources!.approval!;
  const approved = made([{ type: "Approved", status: "True" }]);
  approval.prepare?.(approved, made(), context);
  assert.deepEqual(approved.status?.conditions?.[0], {
    type: "Approved",
    status: "True",
    lastUpdateTime: "2026-01-01T00:00:00Z",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  assert.deepEqual(approval.validate?.(approved, made(), context), []);
  assert.deepEqual(approval.validate?.(made([]), approved, context).map(fieldErrorText), [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ]);
  assert.deepEqual(certificateSigningRequests.status?.validate?.(approved, made(), context).map(fieldErrorText), [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ]);
});

test("trust bundles are named after their signer", () => {
  const faults = (name: string, signerName?: string) =>
    clusterTrustBundles.create
      .validate?.({ metadata: { name }, spec: { trustBundle: "", ...(signerName !== undefined && { signerName }) } }, context)
      .map(fieldErrorText)[0];
  assert.equal(faults("x", "e.com/s"), 'metadata.name: Invalid value: "x": ClusterTrustBundle for signerName e.com/s must be named with prefix e.com:s:');
  assert.equal(faults("e.com:s:x", "e.com/s"), 'spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided');
});
