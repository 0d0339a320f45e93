/** Strategies of the core group, version v1. */
import { bindings } from "./bindings.ts";
import { configMaps } from "./config-maps.ts";
import { endpoints } from "./endpoints.ts";
import { events } from "./events.ts";
import { limitRanges } from "./limit-ranges.ts";
import { namespaces } from "./namespaces.ts";
import { nodes } from "./nodes.ts";
import { persistentVolumeClaims } from "./persistent-volume-claims.ts";
import { persistentVolumes } from "./persistent-volumes.ts";
import { podTemplates } from "./pod-templates.ts";
import { pods } from "./pod/strategy.ts";
import { replicationControllers } from "./replication-controllers.ts";
import { resourceQuotas } from "./resource-quotas.ts";
import { secrets } from "./secrets.ts";
import { serviceAccounts } from "./service-accounts.ts";
import { services } from "./service/strategy.ts";

export const coreV1Strategies = [
  pods,
  services,
  configMaps,
  secrets,
  serviceAccounts,
  namespaces,
  nodes,
  endpoints,
  events,
  bindings,
  replicationControllers,
  podTemplates,
  persistentVolumes,
  persistentVolumeClaims,
  limitRanges,
  resourceQuotas,
];
