/** The pod network of a node: CNI configuration, bridge, forwarding, masquerading. */
export { bridgeName, cniConfig, gatewayAddress, writeCniConfig } from "./cni-config.ts";
export type { CniConfig, CniOptions } from "./cni-config.ts";
export { RangeInUse, resetNetwork, setUpNodeNetwork } from "./node-network.ts";
export type { NodeNetwork, NodeNetworkOptions } from "./node-network.ts";
export { policyRules, runPolicyEnforcer } from "./policy/policy-enforcer.ts";
export { runNodeRoutes } from "./node-routes.ts";
export type { NodeRoutesOptions } from "./node-routes.ts";
