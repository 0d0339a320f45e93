/** What admission adds to the audit event of a request. */
import type { RequestContext } from "../request-context.ts";

/** The first value of a key stays. */
export function annotate(context: RequestContext, key: string, value: string): void {
  const annotations = (context.auditAnnotations ??= new Map());
  if (!annotations.has(key)) annotations.set(key, value);
}
