import assert from "node:assert/strict";
import { test } from "node:test";
import { readAnswer, reviewVersion } from "./review.ts";

const review = (response: object, head: object = {}) => JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", ...head, response });
const patch = Buffer.from("[]").toString("base64");

const refused: readonly [what: string, body: string, isMutating: boolean, expected: RegExp][] = [
  ["another uid", review({ uid: "b", allowed: true }), false, /^received invalid webhook response: expected response.uid="a", got "b"$/],
  ["no response", JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" }), false, /webhook response was absent$/],
  ["null", "null", false, /webhook response was absent$/],
  [
    "no type",
    JSON.stringify({ response: { uid: "a", allowed: true } }),
    false,
    /expected webhook response of admission.k8s.io\/v1, Kind=AdmissionReview, got \/, Kind=$/,
  ],
  [
    "another version",
    review({ uid: "a" }, { apiVersion: "admission.k8s.io/v1beta1" }),
    false,
    /^failed to call webhook: converting \(v1beta1.AdmissionReview\) to \(v1.AdmissionReview\): unknown conversion$/,
  ],
  ["a text", "hello", false, /couldn't get version\/kind; json parse error: json: cannot unmarshal string into Go value of type struct/],
  ["a list", "[1]", false, /json: cannot unmarshal array into Go value/],
  [
    "a wrong type",
    review({ uid: "a", allowed: "true" }),
    false,
    /json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool$/,
  ],
  ["a patch that may not be", review({ uid: "a", allowed: true, patch, patchType: "JSONPatch" }), false, /validating webhook may not return response.patch$/],
  ["a patch type that may not be", review({ uid: "a", allowed: true, patchType: "JSONPatch" }), false, /validating webhook may not return response.patchType$/],
  ["no patch type", review({ uid: "a", allowed: true, patch }), true, /webhook returned response.patch but not response.patchType$/],
  ["no patch", review({ uid: "a", allowed: true, patchType: "JSONPatch" }), true, /webhook returned response.patchType but not response.patch$/],
  [
    "no base64",
    review({ uid: "a", allowed: true, patch: "!!!", patchType: "JSONPatch" }),
    true,
    /^failed to call webhook: illegal base64 data at input byte 0$/,
  ],
];

test("answers that cannot be used", () => {
  for (const [what, body, isMutating, expected] of refused) {
    assert.throws(() => readAnswer(Buffer.from(body), { uid: "a", version: "v1", isMutating }), { name: "WebhookError", message: expected }, what);
  }
});

test("answers in JSON and in YAML", () => {
  for (const body of [review({ uid: "a", allowed: true }), "kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nresponse:\n  uid: a\n  allowed: true\n"]) {
    assert.equal(readAnswer(Buffer.from(body), { uid: "a", version: "v1", isMutating: true }).allowed, true);
  }
});

test("the first version that is known is spoken", () => {
  assert.equal(reviewVersion(["v2", "v1beta1", "v1"]), "v1beta1");
  assert.equal(reviewVersion(["v2"]), undefined);
});
