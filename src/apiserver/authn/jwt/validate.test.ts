import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "../../../apimachinery/field-error.ts";
import type { AuthenticationConfiguration, JwtConfiguration } from "./configuration.ts";
import { validateAuthentication } from "./validate.ts";

const issuer = { url: "https://issuer.example", audiences: ["app"] };
const claimMappings = { username: { claim: "sub", prefix: "" } };

function faults(changes: Partial<JwtConfiguration>, rest: Partial<AuthenticationConfiguration> = {}): string[] {
  return validateAuthentication({ jwt: [{ issuer, claimMappings, ...changes }], ...rest }, ["https://own.example"]).map(fieldErrorText);
}

const cases: ReadonlyArray<readonly [string, Partial<JwtConfiguration>, readonly string[]]> = [
  ["a plain issuer", {}, []],
  ["http", { issuer: { ...issuer, url: "http://issuer.example" } }, ['jwt[0].issuer.url: Invalid value: "http://issuer.example": URL scheme must be https']],
  [
    "the own issuer",
    { issuer: { ...issuer, url: "https://own.example" } },
    ['jwt[0].issuer.url: Invalid value: "https://own.example": URL must not overlap with disallowed issuers: [https://own.example]'],
  ],
  ["no audience", { issuer: { ...issuer, audiences: [] } }, ["jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required"]],
  [
    "claim and expression",
    { claimMappings: { username: { claim: "sub", expression: "claims.sub" } } },
    ['jwt[0].claimMappings.username: Invalid value: "": claim and expression can\'t both be set'],
  ],
  [
    "a claim without prefix",
    { claimMappings: { username: { claim: "sub" } } },
    ["jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing"],
  ],
  [
    "an email nobody verified",
    { claimMappings: { username: { expression: "claims.email" } } },
    [
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    ],
  ],
  [
    "a verified email",
    { claimMappings: { username: { expression: "claims.email" } }, claimValidationRules: [{ expression: "claims.?email_verified.orValue(true) == true" }] },
    [],
  ],
  [
    "a reserved extra key",
    { claimMappings: { ...claimMappings, extra: [{ key: "a.k8s.io/b", valueExpression: "claims.sub" }] } },
    ['jwt[0].claimMappings.extra[0].key: Invalid value: "a.k8s.io/b": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'],
  ],
];

test("the faults of an issuer", () => {
  for (const [title, changes, expected] of cases) assert.deepEqual(faults(changes), expected, title);
});

test("an issuer may be named once", () => {
  const one = { issuer, claimMappings };
  assert.deepEqual(validateAuthentication({ jwt: [one, one] }, []).map(fieldErrorText), ['jwt[1].issuer.url: Duplicate value: "https://issuer.example"']);
});

test("conditions need anonymous access to be on", () => {
  const [fault] = faults({}, { anonymous: { enabled: false, conditions: [{ path: "/livez" }] } });
  assert.match(fault ?? "", /^anonymous\.conditions: Invalid value: .*enabled should be set to true when conditions are defined$/);
});
