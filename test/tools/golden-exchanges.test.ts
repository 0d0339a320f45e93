import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { exchangeRecordings, expectedOf, type ExchangeStep } from "../../tools/golden/exchanges.ts";
import { serverArguments } from "../../tools/golden/server.ts";
import type { Webhook } from "../../tools/golden/webhook.ts";

const exchanges = [
  {
    say: "slow",
    client: { method: "GET", path: "/version" },
    toWebhook: [{ method: "POST", path: "/authz-a?timeout=3s", headers: {}, body: {} }],
    answer: { status: 500, body: 'Post "https://127.0.0.1:7420/authz-a": net/http: request canceled (Client.Timeout exceeded) at 2026-01-02T03:04:05Z' },
  },
];
const webhookAuthorizer = (name: string) => ({ type: "Webhook", name, webhook: { connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "FILE" } } });
const content = {
  about: "data",
  odd: [null, "text"],
  token: { v1: { flags: ["--authentication-token-webhook-config-file=token.kubeconfig", "--x=v1"], answersOfTheWebhook: { ok: {} }, exchanges } },
  authorization: {
    "a and b": { "authorization-config": { authorizers: [webhookAuthorizer("a"), webhookAuthorizer("b"), { type: "RBAC", name: "rbac" }] }, exchanges },
  },
};

test("each part of recorded exchanges is a recording with a server and a webhook of its own", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "golden-exchanges-"));
  try {
    const [token, authorization, ...rest] = exchangeRecordings("access/w.json", "access", content);
    assert.deepEqual([token!.file, authorization!.file, rest.length], ["access/w.json token: v1", "access/w.json authorization: a and b", 0]);
    const webhook = { origin: "https://127.0.0.1:1", certificate: "PEM" } as Webhook;
    const argumentsOf = ({ scenario }: typeof token & object) =>
      serverArguments({ needs: scenario.needs!, controllersFlags: "", config: scenario.config }, folder, webhook);
    const fileOf = (args: string[], flag: string) => readFileSync(args.find((one) => one.startsWith(`--apiserver.${flag}=`))!.split("=")[1]!, "utf8");
    const tokenArguments = argumentsOf(token!);
    assert.ok(tokenArguments.includes("--components") && tokenArguments.includes("--apiserver.x=v1") && tokenArguments.includes("apiserver"));
    assert.match(fileOf(tokenArguments, "authentication-token-webhook-config-file"), /"server":"https:\/\/127.0.0.1:1\/token".*"token":"hook-token"/);
    const withConfig = argumentsOf(authorization!);
    assert.ok(!withConfig.some((one) => one.includes("authorization-mode")), "the file says it all");
    const files = JSON.parse(fileOf(withConfig, "authorization-config")).authorizers.map(
      ({ webhook: asked }: ReturnType<typeof webhookAuthorizer>) => asked?.connectionInfo.kubeConfigFile,
    );
    assert.deepEqual(
      [readFileSync(files[0], "utf8").includes("1/authz-a"), readFileSync(files[1], "utf8").includes("1/authz-b"), files[2]],
      [true, true, undefined],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what may differ from run to run is rewritten", () => {
  const step = exchangeRecordings("f", "access", content)[0]!.scenario.steps![0] as ExchangeStep;
  assert.deepEqual(
    (expectedOf(step) as typeof step.expect).answer.body,
    'Post "https://webhook/authz-a": context deadline exceeded (Client.Timeout exceeded) at <time>',
  );
  const often = { ...step, expect: { ...step.expect, toWebhook: Array.from({ length: 31 }, () => step.expect.toWebhook[0]!) } };
  assert.equal((expectedOf(often) as typeof step.expect).toWebhook.length, 2, "tried for as long as the time lasted");
});
