/** Bearer tokens that a webhook knows (flag `authentication-token-webhook-config-file`). */
import type { Clock } from "../../base/clock.ts";
import { AnswerCache } from "../webhooks/answer-cache.ts";
import { WebhookError, sendReview } from "../webhooks/review-webhook.ts";
import type { ReviewSender } from "../webhooks/review-webhook.ts";
import type { TokenAuthenticator, TokenResult } from "./bearer-tokens.ts";

export interface WebhookTokenOptions {
  readonly send: ReviewSender;
  /** `v1` or `v1beta1`. */
  readonly version: string;
  readonly cacheTtlMs: number;
}

/** The API type's TokenReviewStatus. */
interface Answer {
  readonly authenticated?: boolean;
  readonly user?: { readonly username?: string; readonly uid?: string; readonly groups?: string[]; readonly extra?: Record<string, string[]> };
  readonly audiences?: readonly string[];
  readonly error?: string;
}

const timeoutMs = 30_000;

/** Accepted and refused tokens are remembered; failures are not. */
export function webhookTokens({ send, version, cacheTtlMs }: WebhookTokenOptions, clock: Clock, apiAudiences: readonly string[]): TokenAuthenticator {
  const cache = new AnswerCache<{ readonly result: TokenResult }>(clock);
  const webhook = { send, clock, kind: "TokenReview", apiVersion: `authentication.k8s.io/${version}`, timeoutMs } as const;
  return {
    name: "webhook",
    async authenticateToken(token, audiences) {
      const question = JSON.stringify([token, audiences]);
      const known = cache.get(question);
      if (known !== undefined) return known.result;
      try {
        const answer = await sendReview<Answer>(webhook, { token, audiences }, { user: {} });
        const result = resultOf(answer, audiences, apiAudiences);
        if (result === undefined || "user" in result) cache.set(question, { result }, cacheTtlMs);
        return result;
      } catch (error) {
        if (error instanceof WebhookError) return { rejected: error.message };
        throw error;
      }
    },
  };
}

function resultOf(
  { authenticated = false, user = {}, audiences: stated, error = "" }: Answer,
  asked: readonly string[],
  apiAudiences: readonly string[],
): TokenResult {
  if (!authenticated) return error === "" ? undefined : { rejected: error };
  // A webhook that knows nothing of audiences speaks of the server's own.
  const audiences = asked.filter((audience) => (stated ?? apiAudiences).includes(audience));
  if (audiences.length === 0) return undefined;
  const { username = "", uid = "", groups = [], extra } = user;
  return { user: { username, groups, ...(uid !== "" && { uid }), ...(extra !== undefined && { extra }) }, audiences };
}
