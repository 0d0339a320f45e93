/** Recorded exchanges with webhooks: what a client's request made the server ask a webhook, and what the client was told then. */
import { request as httpsRequest } from "node:https";
import { readFileSync } from "node:fs";
import type { Recording, Scenario, Step } from "./scenarios.ts";
import type { Answers, Webhook, WebhookRequest } from "./webhook.ts";

/** One server's exchanges, as the file of the recordings has them. */
interface Section {
  readonly flags?: readonly string[];
  readonly "authorization-config"?: object;
  readonly answersOfTheWebhook: Answers;
  readonly exchanges: readonly Exchange[];
}

interface Exchange {
  readonly say: string;
  readonly client: ClientRequest;
  readonly toWebhook: readonly WebhookRequest[];
  readonly answer: { readonly status: number; readonly body: unknown };
}

export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  /** Absent for an administrator; without credentials in them and nobody impersonated: anonymous. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: unknown;
}

/** A step of an exchange, compared by `replayExchange`. */
export interface ExchangeStep extends Step {
  readonly do: ClientRequest;
  readonly expect: { readonly toWebhook: readonly WebhookRequest[]; readonly answer: Exchange["answer"] };
}

/** A recording for each server that the exchanges in `content` need; none when there are no exchanges in it. */
export function exchangeRecordings(file: string, area: string, content: Readonly<Record<string, unknown>>): Recording[] {
  return Object.entries(content).flatMap(([kind, sections]) =>
    Object.entries(typeof sections === "object" && sections !== null ? (sections as Record<string, Section | null>) : {}).flatMap(([name, section]) =>
      Array.isArray(section?.exchanges) ? [{ file: `${file} ${kind}: ${name}`, area, scenario: scenarioOf(section) }] : [],
    ),
  );
}

function scenarioOf(section: Section): Scenario {
  const steps: ExchangeStep[] = section.exchanges.map(({ say, client, toWebhook, answer }) => ({ say, do: client, expect: { toWebhook, answer } }));
  const configuration = section["authorization-config"];
  const flags = (section.flags ?? []).map((flag) =>
    flag.replace(/[a-z]+\.kubeconfig$/, flag.includes("token") ? "${kubeconfig: webhook at /token}" : "${kubeconfig: webhook at /authz-a}"),
  );
  return {
    needs: ["apiserver", "webhook", ...[...flags, ...(configuration === undefined ? [] : ["--authorization-config=FILE"])].map((flag) => `flag:${flag}`)],
    alone: true,
    webhookAnswers: section.answersOfTheWebhook,
    ...(configuration !== undefined && { config: { "authorization-config": withKubeconfigs(configuration) } }),
    steps,
  };
}

/** Each authorizer has a path of its own, by its name. */
function withKubeconfigs(configuration: object): object {
  return JSON.parse(JSON.stringify(configuration), (_, value: unknown) => {
    const { name, webhook } = (value ?? {}) as { name?: string; webhook?: { connectionInfo: object } };
    if (webhook === undefined) return value;
    const connectionInfo = { ...webhook.connectionInfo, kubeConfigFile: `\${kubeconfig: webhook at /authz-${name}}` };
    return { ...(value as object), webhook: { ...webhook, connectionInfo } };
  });
}

/** Credentials of whoever no header names, and the server to ask. */
export interface AskOptions {
  readonly server: string;
  readonly ca: Buffer;
  readonly certificate: Buffer;
  readonly key: Buffer;
}

/** What was observed, in the form of `step.expect`. */
export async function replayExchange(step: ExchangeStep, options: AskOptions, webhook: Webhook): Promise<unknown> {
  const answer = await ask(step.do, options);
  const { body } = step.expect.answer;
  // Of some answers only the kind was kept, of others nothing.
  const isKept = typeof body !== "string" || !/^<\w+>$/.test(body);
  const shown = isKept ? answer.body : `<${(answer.body as { kind?: string } | undefined)?.kind}>`;
  return comparable({ toWebhook: webhook.take(), answer: { status: answer.status, body: shown } }, webhook.origin);
}

/** The expectation, in which what may differ is rewritten as in what is observed. */
export function expectedOf(step: ExchangeStep): unknown {
  return comparable(step.expect, "https://127.0.0.1:7420");
}

/** Times, the webhook's port, and which of Go's two words for a time-out it was may differ; so may how often it was tried where that took long. */
function comparable(observed: ExchangeStep["expect"], origin: string): unknown {
  const text = JSON.stringify(observed)
    .replaceAll(origin, "https://webhook")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>")
    .replaceAll("net/http: request canceled (Client.Timeout", "context deadline exceeded (Client.Timeout");
  const { toWebhook, answer } = JSON.parse(text) as ExchangeStep["expect"];
  return { toWebhook: toWebhook.length > 10 ? [toWebhook[0], "and many more"] : toWebhook, answer };
}

function ask({ method, path, headers, body }: ClientRequest, { server, ca, certificate, key }: AskOptions): Promise<{ status: number; body: unknown }> {
  const isAdmin = headers === undefined || (headers["authorization"] === undefined && Object.keys(headers).length > 0);
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const sent = { "user-agent": "golden", accept: "application/json", ...(payload !== undefined && { "content-type": "application/json" }), ...headers };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(new URL(path, server), { method, headers: sent, ca, ...(isAdmin && { cert: certificate, key }) }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const isJson = (response.headers["content-type"] ?? "").includes("json");
      resolve({ status: response.statusCode!, body: isJson && text !== "" ? JSON.parse(text) : text });
    });
    request.on("error", reject).end(payload);
  });
}

/** Reads what an administrator asks with from a kubeconfig of ours. */
export function askOptions(kubeconfig: string): AskOptions {
  const text = readFileSync(kubeconfig, "utf8");
  const field = (name: string) => new RegExp(`"?${name}"?: *"?([^"\\s,}]+)`).exec(text)?.[1] ?? "";
  const data = (name: string) => Buffer.from(field(`${name}-data`), "base64");
  return { server: field("server"), ca: data("certificate-authority"), certificate: data("client-certificate"), key: data("client-key") };
}
