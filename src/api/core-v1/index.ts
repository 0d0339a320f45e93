/** Strategies of the core group, version v1. */
import { bindings } from "./bindings.ts";
import { configMaps } from "./config-maps.ts";
import { endpoints } from "./endpoints.ts";
import { events } from "./events.ts";
import { namespaces } from "./namespaces.ts";
import { nodes } from "./nodes.ts";
import { pods } from "./pod/strategy.ts";
import { secrets } from "./secrets.ts";
import { serviceAccounts } from "./service-accounts.ts";
import { services } from "./service/strategy.ts";

export const coreV1Strategies = [pods, services, configMaps, secrets, serviceAccounts, namespaces, nodes, endpoints, events, bindings];
