import { test } from "node:test";
import { equal, deepEqual } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReplaceableAuthorizers } from "../../../apiserver/authz/modes.ts";
import { VirtualClock } from "../../../base/virtual-clock.ts";
import { apiServerFlags } from "./apiserver-flags/apiserver-flags.ts";
import { readApiServerFiles } from "./apiserver-files.ts";

const authn = (rest: object, kind = "AuthenticationConfiguration") => JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind, ...rest });
const authz = (rest: object) => authn(rest, "AuthorizationConfiguration");
const kubeconfig = JSON.stringify({
  "current-context": "c",
  contexts: [{ name: "c", context: { cluster: "c" } }],
  clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
});
const failed = 'failed to load authentication configuration from file "FILE": ';
const notBoth = "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined";
const together = "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set";
const scheme = 'in scheme "pkg/runtime/scheme.go:111"';

/** Flags, what FILE holds, and the fault as recorded of kube-apiserver 1.37.2; `starts` where there is none. */
const table: [say: string, flags: string[], content: string, outcome: string][] = [
  ["empty", ["authentication-config=FILE"], "", `${failed}empty config data`],
  ["not YAML", ["authentication-config=FILE"], "a: b: c", `${failed}yaml: mapping values are not allowed in this context`],
  [
    "another kind",
    ["authentication-config=FILE"],
    authn({}, "Nope"),
    `${failed}no kind "Nope" is registered for version "apiserver.config.k8s.io/v1" ${scheme}`,
  ],
  ["an older version", ["authentication-config=FILE"], authn({ apiVersion: "apiserver.config.k8s.io/v1alpha1" }), "starts"],
  ["an unknown field", ["authentication-config=FILE"], authn({ jwts: [] }), `${failed}strict decoding error: unknown field "jwts"`],
  [
    "authentication twice",
    ["authentication-config=FILE", "oidc-issuer-url=https://x.example", "oidc-client-id=a"],
    authn({}),
    "authentication-config file and oidc-* flags are mutually exclusive",
  ],
  [
    "anonymous twice",
    ["authentication-config=FILE", "anonymous-auth=true"],
    authn({ anonymous: { enabled: true } }),
    "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file",
  ],
  ["no authorizers", ["authorization-config=FILE"], "", "authorizers: Required value: at least one authorization mode must be defined"],
  [
    "an unknown field of authorization",
    ["authorization-config=FILE"],
    authz({ authorizers: [{ type: "RBAC", name: "rbac" }], x: 1 }),
    'failed to load AuthorizationConfiguration from file: strict decoding error: unknown field "x"',
  ],
  [
    "another name",
    ["authorization-config=FILE"],
    authz({ authorizers: [{ type: "AlwaysAllow", name: "aa" }] }),
    "expected name alwaysallow for authorizer AlwaysAllow instead of aa",
  ],
  [
    "ABAC in the file",
    ["authorization-config=FILE"],
    authz({ authorizers: [{ type: "ABAC", name: "abac" }] }),
    "invalid authorization config: open : no such file or directory",
  ],
  ["modes beside it", ["authorization-config=FILE", "authorization-mode=RBAC"], authz({}), notBoth],
  ["a webhook beside it", ["authorization-config=FILE", "authorization-webhook-config-file=KUBECONFIG"], authz({}), notBoth],
  ["a mode twice", ["authorization-mode=RBAC,RBAC"], "", 'authorization-mode ["RBAC" "RBAC"] has mode specified more than once'],
  ["Webhook alone", ["authorization-mode=Webhook"], "", "authorization-mode Webhook's authorization config file not passed"],
  ["ABAC alone", ["authorization-mode=ABAC"], "", "authorization-mode ABAC's authorization policy file not passed"],
  ["policies for nothing", ["authorization-mode=RBAC", "authorization-policy-file=x"], "", "cannot specify --authorization-policy-file without mode ABAC"],
  [
    "a webhook for nothing",
    ["authorization-mode=RBAC", "authorization-webhook-config-file=KUBECONFIG"],
    "",
    "cannot specify --authorization-webhook-config-file without mode Webhook",
  ],
  [
    "a version of reviews",
    ["authorization-mode=Webhook", "authorization-webhook-config-file=KUBECONFIG", "authorization-webhook-version=v9"],
    "",
    'invalid authorization config: unsupported webhook authorizer version "v9", supported versions are "v1", "v1beta1"',
  ],
  [
    "a version of token reviews",
    ["authentication-token-webhook-config-file=KUBECONFIG", "authentication-token-webhook-version=v9"],
    "",
    'unsupported authentication webhook version "v9", supported versions are "v1", "v1beta1"',
  ],
  ["no file of a token webhook", ["authentication-token-webhook-config-file=/nonexistent"], "", "stat /nonexistent: no such file or directory"],
  [
    "no file of policies",
    ["authorization-mode=ABAC", "authorization-policy-file=/nonexistent"],
    "",
    "invalid authorization config: open /nonexistent: no such file or directory",
  ],
  [
    "half a policy",
    ["authorization-mode=ABAC", "authorization-policy-file=FILE"],
    "{",
    "invalid authorization config: error reading policy file FILE, line 1: {: couldn't get version/kind; json parse error: unexpected end of JSON input",
  ],
  [
    "another kind of policy",
    ["authorization-mode=ABAC", "authorization-policy-file=FILE"],
    '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Foo"}',
    `invalid authorization config: error reading policy file FILE, line 1: {"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Foo"}: no kind "Foo" is registered for version "abac.authorization.kubernetes.io/v1beta1" ${scheme}`,
  ],
  ["a policy of the old form", ["authorization-mode=ABAC", "authorization-policy-file=FILE"], '{"user":"a"}', "starts"],
  ["no policies", ["authorization-mode=ABAC", "authorization-policy-file=FILE"], "", "starts"],
  ["an issuer without a client", ["oidc-issuer-url=https://x.example"], "", together],
  ["a client without an issuer", ["oidc-client-id=x"], "", together],
  ["nothing", [], "", "starts"],
];

test("a server that cannot be started so says why, in upstream's words", async () => {
  const folder = await mkdtemp(join(tmpdir(), "start-errors-"));
  const [file, webhooks] = [join(folder, "file"), join(folder, "kubeconfig")];
  await writeFile(webhooks, kubeconfig);
  try {
    for (const [say, words, content, outcome] of table) {
      await writeFile(file, content);
      const flags = new Map<string, readonly string[]>();
      for (const word of words) {
        const [, name, value] = /^([\w-]+)=(.*)$/.exec(word.replace("KUBECONFIG", webhooks).replace("FILE", file))!;
        flags.set(name!, [value!]);
      }
      equal((await outcomeOf(flags)).replaceAll(file, "FILE"), outcome, say);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

async function outcomeOf(flags: ReadonlyMap<string, readonly string[]>): Promise<string> {
  const own = { node: { name: "node", authorize: () => ({ verdict: "no-opinion", reason: "" }) as const }, clock: new VirtualClock() };
  const rbac = { ...own.node, name: "rbac", rulesFor: () => [] };
  try {
    apiServerFlags(flags, { serviceCidrs: ["10.0.0.0/16"], components: new Set() });
    const { authorization } = await readApiServerFiles(flags);
    if (authorization !== undefined) new ReplaceableAuthorizers(authorization, { ...own, rbac });
    return "starts";
  } catch (error) {
    return (error as Error).message;
  }
}

test("the flags of one token issuer", async () => {
  const read = async (more: Record<string, string>) => {
    const flags = new Map(Object.entries({ "oidc-issuer-url": "https://x.example", "oidc-client-id": "a", ...more }).map(([name, value]) => [name, [value]]));
    return (await readApiServerFiles(flags)).authentication!.jwt![0]!;
  };
  deepEqual(await read({}), {
    issuer: { url: "https://x.example", audiences: ["a"] },
    claimMappings: { username: { claim: "sub", prefix: "https://x.example#" } },
    claimValidationRules: [],
    signingAlgorithms: ["RS256"],
  });
  const { claimMappings, claimValidationRules, signingAlgorithms } = await read({
    "oidc-username-claim": "email",
    "oidc-groups-claim": "groups",
    "oidc-groups-prefix": "g:",
    "oidc-required-claim": "hd=example.com,x=a=b",
    "oidc-signing-algs": "ES256,RS256",
  });
  deepEqual(claimMappings, { username: { claim: "email", prefix: "" }, groups: { claim: "groups", prefix: "g:" } });
  deepEqual(claimValidationRules, [
    { claim: "hd", requiredValue: "example.com" },
    { claim: "x", requiredValue: "a=b" },
  ]);
  deepEqual(signingAlgorithms, ["ES256", "RS256"]);
  equal((await read({ "oidc-username-prefix": "-" })).claimMappings.username.prefix, "");
});
