/**
 * How long the layers of a slow request took, as annotations of its audit event (documentation page "Audit Annotations",
 * `apiserver.latency.k8s.io/…`). Nothing is timed where nothing is audited.
 */
import type { Eventual } from "../../base/eventual.ts";
import { formatDuration } from "../../apimachinery/go/go-duration.ts";
import { annotate } from "../admission/audit-annotations.ts";
import type { RequestContext } from "../request-context.ts";

export type Layer =
  | "authentication"
  | "authorization"
  | "apf-queue-wait"
  | "mutating-webhook"
  | "validating-webhook"
  | "etcd"
  | "decode-response-object"
  | "transform-response-object"
  | "serialize-response-object"
  | "response-write";

/** Requests that took no longer are not explained. */
const slowMs = 500;

/** Does the work of a layer. What a layer does several times adds up. */
export function timed<T>(context: RequestContext, layer: Layer, work: () => Eventual<T>): Eventual<T> {
  return context.server.audit === undefined ? work() : measured(context, layer, work);
}

async function measured<T>(context: RequestContext, layer: Layer, work: () => Eventual<T>): Promise<T> {
  const done = startOf(context, layer);
  try {
    return await work();
  } finally {
    done();
  }
}

/** Does the work of a layer that waits for nothing. */
export function timedNow<T>(context: RequestContext, layer: Layer, work: () => T): T {
  if (context.server.audit === undefined) return work();
  const done = startOf(context, layer);
  try {
    return work();
  } finally {
    done();
  }
}

/** From now until what is returned is called, time belongs to the layer. */
export function startOf(context: RequestContext, layer: Layer): () => void {
  const { clock } = context.server;
  const latencies = (context.latencies ??= new Map());
  const fromMs = clock.monotonicMs();
  return () => latencies.set(layer, (latencies.get(layer) ?? 0) + clock.monotonicMs() - fromMs);
}

/** Of a request that took `totalMs` until its answer was complete. Who never had to wait for a turn is not told of it. */
export function annotateLatencies(context: RequestContext, totalMs: number): void {
  const layers = [...(context.latencies ?? [])].filter(([layer, tookMs]) => layer !== "apf-queue-wait" || tookMs > 0);
  if (totalMs <= slowMs || layers.length === 0) return;
  for (const [layer, tookMs] of [...layers, ["total", totalMs] as const]) annotate(context, `apiserver.latency.k8s.io/${layer}`, formatDuration(tookMs));
}
