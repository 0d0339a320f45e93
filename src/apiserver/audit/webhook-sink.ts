/** Audit events to a server elsewhere, as audit.k8s.io/v1 EventLists; tried again with growing pauses (documentation page "Auditing: Webhook backend"). */
import { goJson } from "../../apimachinery/json.ts";
import { deadline, sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { ReviewSender } from "../webhooks/review-webhook.ts";
import type { AuditEvent } from "./event.ts";
import type { AuditFailures, AuditSink } from "./sinks.ts";

export interface WebhookSinkOptions {
  readonly send: ReviewSender;
  readonly clock: Clock;
  readonly random: Random;
  /** Before the second try. */
  readonly firstPauseMs: number;
  readonly failures: AuditFailures;
}

const attempts = 5;
const pauseFactor = 1.5;
const jitter = 0.2;
const timeoutMs = 30_000;

export function webhookSink({ send, clock, random, firstPauseMs, failures }: WebhookSinkOptions): AuditSink {
  const closing = new AbortController();
  return {
    async process(events) {
      const body = Buffer.from(goJson({ kind: "EventList", apiVersion: "audit.k8s.io/v1", metadata: {}, items: events.map(withoutType) }));
      let pauseMs = firstPauseMs;
      for (let attempt = 1; ; attempt++) {
        const limit = deadline(clock, timeoutMs);
        const fault = await send(body, { timeoutMs, signal: limit.signal }).then(
          ({ status }) => (status >= 200 && status < 300 ? undefined : { text: `the server answered ${status}`, isFinal: status < 500 && status !== 429 }),
          (error: unknown) => ({ text: error instanceof Error ? error.message : String(error), isFinal: false }),
        );
        limit.cancel();
        if (fault === undefined) return true;
        if (fault.isFinal || attempt === attempts || closing.signal.aborted) return failures.note("webhook", events, fault.text);
        // While the server ends, the one try left is made at once.
        await sleep(clock, pauseMs * (1 + jitter * random.fraction()), closing.signal).catch(() => {});
        pauseMs *= pauseFactor;
      }
    },
    hurry: () => closing.abort(),
    close: () => Promise.resolve(),
  };
}

/** Items of a list have the list's type. */
function withoutType({ kind: _kind, apiVersion: _apiVersion, ...rest }: AuditEvent): object {
  return rest;
}
