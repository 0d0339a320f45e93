import { parseTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Secret } from "../../api/core-v1/types.ts";

/** A bootstrap token as its Secret tells it (documentation page "Authenticating with Bootstrap Tokens"). */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Undefined when the Secret's name and content do not make a token. */
export function bootstrapToken({ metadata, data, type }: DeepReadonly<Secret>): BootstrapToken | undefined {
  if (type !== bootstrapTokenType) return undefined;
  const values = Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  const { "token-id": id = "", "token-secret": secret = "" } = values;
  if (secret === "" || metadata.name !== `bootstrap-token-${id}`) return undefined;
  return { id, secret, values };
}

/** How long a token is still good, in ms: negative when it is not, infinite when it does not end. What cannot be read has ended. */
export function validForMs(secret: DeepReadonly<Secret>, nowMs: number): number {
  const text = Buffer.from(secret.data?.["expiration"] ?? "", "base64").toString();
  if (text === "") return Number.POSITIVE_INFINITY;
  try {
    return parseTime(text) - nowMs;
  } catch {
    // Nobody can tell how long it was to last.
    return -1;
  }
}

export function hasExpired({ values }: BootstrapToken, nowMs: number): boolean {
  return validForMs({ metadata: {}, data: { expiration: Buffer.from(values["expiration"] ?? "").toString("base64") } }, nowMs) < 0;
}

export const bootstrapTokenType = "bootstrap.kubernetes.io/token";
