/** `coracle token create|ls|rm`: bootstrap tokens, with which nodes of other machines join (`coracle join`). */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { formatTime } from "../../apimachinery/time.ts";
import { Client, resources } from "../../client/index.ts";
import { authorityHash } from "../../joining/index.ts";
import { adminConnection } from "../connections/admin-connection.ts";
import { UsageError, parseArguments } from "../commands/arguments.ts";
import { commandEnvironment } from "../environment.ts";
import { firstHostAddress } from "../connections/host-address.ts";
import { defaultDataDir } from "../commands/up-options.ts";
import { nodeGroup, prepareJoining } from "./prepare-joining.ts";

const usage = "usage: coracle token create [--ttl HOURS] | ls | rm ID   [--data-dir DIR]";
const hourMs = 3_600_000;

export async function runToken(words: readonly string[]): Promise<void> {
  const { operands, options } = parseArguments(words, { "data-dir": "value", ttl: "value" });
  const [action = "", id = "", ...rest] = operands;
  if (rest.length > 0 || !(action === "rm" ? id !== "" : ["create", "ls"].includes(action) && id === "")) throw new UsageError(usage);
  const environment = commandEnvironment();
  const dataDir = resolve(options.get("data-dir") ?? defaultDataDir());
  await using admin = await adminConnection(dataDir, environment);
  const client = new Client({ transport: admin.transport, clock: environment.clock, userAgent: "coracle" });
  if (action === "rm") await client.delete(resources.secrets, "kube-system", `bootstrap-token-${id}`);
  else if (action === "ls") await listTokens(client);
  else {
    const endMs = environment.clock.nowMs() + hours(options.get("ttl") ?? "24") * hourMs;
    const server = `https://${firstHostAddress()}:${new URL(admin.url).port}`;
    const authority = await admin.certificates.authority();
    await prepareJoining(client, { server, authority, dataDir });
    const token = await createToken(client, formatTime(endMs));
    process.stdout.write(`coracle join ${server} --token ${token} --ca-cert-hash ${authorityHash(authority)}\n`);
  }
}

async function createToken(client: Client, expiration: string): Promise<string> {
  const [id, secret] = [randomText(6), randomText(16)];
  await client.create(resources.secrets, {
    kind: "Secret",
    apiVersion: "v1",
    metadata: { namespace: "kube-system", name: `bootstrap-token-${id}` },
    type: "bootstrap.kubernetes.io/token",
    stringData: {
      "token-id": id,
      "token-secret": secret,
      expiration,
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": nodeGroup,
    },
  });
  return `${id}.${secret}`;
}

async function listTokens(client: Client): Promise<void> {
  const { items } = await client.list(resources.secrets, "kube-system", { fieldSelector: "type=bootstrap.kubernetes.io/token" });
  const text = (data: Readonly<Record<string, string>> | undefined, key: string) => Buffer.from(data?.[key] ?? "", "base64").toString();
  for (const { data } of items) process.stdout.write(`${text(data, "token-id").padEnd(10)}until ${text(data, "expiration") || "it is removed"}\n`);
}

function randomText(length: number): string {
  const letters = "abcdefghijklmnopqrstuvwxyz012345";
  return [...randomBytes(length)].map((byte) => letters[byte % letters.length]).join("");
}

function hours(text: string): number {
  const value = Number(text.replace(/h$/, ""));
  if (!(value > 0 && value <= 24 * 365)) throw new UsageError(`--ttl wants hours, such as 24; not ${JSON.stringify(text)}`);
  return value;
}
