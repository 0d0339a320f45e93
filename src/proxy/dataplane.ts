import type { ServicePlan } from "./plan.ts";

/** Carries plans out: rules in the kernel, or listening sockets. Driven by the proxy, one call at a time. */
export interface Dataplane {
  /** The whole state: plans by `namespace/name`. Rejects when it cannot be carried out; the next call may be the same again. */
  replaceAll(plans: ReadonlyMap<string, ServicePlan>, serviceCidrs: readonly string[]): Promise<void>;
  /** What changed; undefined means that a Service has gone. After a rejection the proxy calls `replaceAll`. */
  change(plans: ReadonlyMap<string, ServicePlan | undefined>, serviceCidrs: readonly string[]): Promise<void>;
  /** Called when the proxy stops. */
  close(): Promise<void>;
}
