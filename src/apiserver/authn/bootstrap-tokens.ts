/** Bootstrap tokens, kept in Secrets (documentation page "Authenticating with Bootstrap Tokens"; flag `enable-bootstrap-token-auth`). */
import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { forApiAudiences } from "./bearer-tokens.ts";
import type { TokenAuthenticator } from "./bearer-tokens.ts";

const pattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** `find` reads a Secret of `kube-system` by name. */
export function bootstrapTokens(apiAudiences: readonly string[], clock: Clock, find: (name: string) => KubeObject | undefined): TokenAuthenticator {
  return forApiAudiences("bootstrap-token", apiAudiences, (token) => {
    const match = pattern.exec(token);
    if (match === null) return undefined;
    const [, id, secret] = match as unknown as [string, string, string];
    const stored = find(`bootstrap-token-${id}`);
    if (stored === undefined || stored.metadata.deletionTimestamp !== undefined || stored["type"] !== "bootstrap.kubernetes.io/token") return undefined;
    const data = (name: string) => Buffer.from((stored["data"] as Record<string, string> | undefined)?.[name] ?? "", "base64").toString();
    if (!isSame(data("token-secret"), secret) || data("token-id") !== id) return undefined;
    if (isExpired(data("expiration"), clock.nowMs()) || data("usage-bootstrap-authentication") !== "true") return undefined;
    const extra = data("auth-extra-groups");
    const groups = extra === "" ? [] : extra.split(",");
    // One bad group makes the whole token worthless.
    if (groups.some((group) => !groupPattern.test(group))) return undefined;
    return { user: { username: `system:bootstrap:${id}`, groups: [...new Set(["system:bootstrappers", ...groups])].sort() } };
  });
}

function isSame(stored: string, given: string): boolean {
  const [a, b] = [Buffer.from(stored), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** An unreadable time counts as past. */
function isExpired(text: string, nowMs: number): boolean {
  if (text === "") return false;
  const atMs = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) || atMs < nowMs;
}
