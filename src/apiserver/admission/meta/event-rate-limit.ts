/** EventRateLimit: a flood of events of one source, user or namespace is answered with 429 (API type eventratelimit.admission.k8s.io/v1alpha1). */
import type { Event } from "../../../api/core-v1/types.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";

export interface EventLimit {
  readonly type: "Server" | "Namespace" | "User" | "SourceAndObject";
  readonly qps: number;
  readonly burst: number;
  readonly cacheSize?: number;
}

const defaultCacheSize = 4096;

export function eventRateLimit(configuration: { readonly limits?: readonly EventLimit[] } = {}): AdmissionPlugin {
  const limiters = (configuration.limits ?? []).map((limit) => new Limiter(limit));
  return {
    name: "EventRateLimit",
    operations: new Set(["CREATE", "UPDATE"]),
    resources: new Set(["/events"]),
    validate(request) {
      if (request.isDryRun) return;
      const nowMs = request.context.server.clock.monotonicMs();
      const faults = limiters.flatMap((limiter) => limiter.take(request, nowMs) ?? []);
      if (faults.length === 0) return;
      throw new StatusError({
        message: `Too many requests: ${faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`}`,
        reason: "TooManyRequests",
        code: 429,
      });
    },
  };
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Token buckets by key; the longest unused one is forgotten first. */
class Limiter {
  readonly #limit: EventLimit;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: EventLimit) {
    this.#limit = limit;
  }

  /** Why the request is refused, or undefined. */
  take(request: AdmissionRequest, nowMs: number): string | undefined {
    const { type, qps, burst, cacheSize = defaultCacheSize } = this.#limit;
    const key = keyOf(type, request);
    const bucket = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    this.#buckets.delete(key);
    if (this.#buckets.size >= cacheSize) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(key, bucket);
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * qps);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return `limit reached on type ${type} for key ${key}`;
    bucket.tokens -= 1;
    return undefined;
  }
}

function keyOf(type: EventLimit["type"], { context, namespace, object }: AdmissionRequest): string {
  switch (type) {
    case "Server":
      return "";
    case "Namespace":
      return namespace;
    case "User":
      return context.user.username;
    case "SourceAndObject": {
      const { source, involvedObject } = object as unknown as Event;
      const { kind, namespace: inNamespace, name, uid, apiVersion } = involvedObject ?? {};
      return [source?.component, source?.host, kind, inNamespace, name, uid, apiVersion].map((part) => part ?? "").join("");
    }
  }
}
