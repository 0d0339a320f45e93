/**
 * When an authority gets a successor. Late in its life the successor is made and trusted beside it; when everybody has had time to hear of
 * that, the successor signs; the old one is trusted until it ends, so that whatever it has signed counts as long as it says. Pure.
 */
import type { CertificateLife } from "./certificate-life.ts";

export type AuthorityStep = "keep" | "introduce" | "promote" | "drop";

/** Time in which everybody hears of a successor before it signs. */
export const introductionMs = 30 * 24 * 3_600_000;

/** What is due of a bundle, the one that signs first. `drop`: one that does not sign has ended. */
export function authorityStep([signing, ...others]: readonly [CertificateLife, ...CertificateLife[]], nowMs: number): AuthorityStep {
  const successor = others.find(({ endMs }) => endMs > signing.endMs);
  if (successor !== undefined) return nowMs >= Math.min(successor.startMs + introductionMs, signing.endMs) ? "promote" : "keep";
  if (nowMs >= signing.dueMs) return "introduce";
  return others.some(({ endMs }) => endMs <= nowMs) ? "drop" : "keep";
}
