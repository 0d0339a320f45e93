/** kube-proxy's job: Services reachable on a node, by nftables or by a forwarder of ours. */
export { readFirstBindablePort } from "./forwarder/forwarder-dataplane.ts";
export { forwardedPlace, serviceLoopbackAddress } from "./forwarder/listen-plan.ts";
export { planService } from "./plan.ts";
export type { Frontend, HealthCheck, NodeView, ServicePlan } from "./plan.ts";
export { createProxy } from "./proxy.ts";
export type { Proxy, ProxyMode, ProxyOptions } from "./proxy.ts";
export { resetProxy } from "./reset-proxy.ts";
