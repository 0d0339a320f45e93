/** Start-up steps in order: the objects that every cluster has. Each is safe to repeat; its name is a post-start hook of /readyz. */
import { AvailabilityController } from "../aggregation/availability-controller.ts";
import { LocalServices } from "../aggregation/local-services.ts";
import { CustomResourceRegistrar } from "../customresources/registrar.ts";
import { keepDanglingConditions } from "../flowcontrol/dangling.ts";
import { keepAddresses } from "../services/address-objects.ts";
import type { ServerState } from "../server-state.ts";
import { createApiServices } from "./api-services.ts";
import { publishAuthenticationConfig } from "./authentication-config.ts";
import { keepFlowControl } from "./flow-control.ts";
import { keepEndpoints } from "./kubernetes-endpoints.ts";
import { createKubernetesService, createServiceCidr } from "./kubernetes-service.ts";
import { createNamespaces } from "./namespaces.ts";
import { createPriorityClasses } from "./priority-classes.ts";
import { reconcileRbac } from "./rbac.ts";

/** Local APIServices follow definitions; remote ones are watched over and asked what they serve. */
async function startAggregation(server: ServerState): Promise<void> {
  new LocalServices(server).start();
  new AvailabilityController(server).start();
  server.publications.start();
}

export interface BootstrapStep {
  readonly name: string;
  run(server: ServerState): Promise<void>;
}

export const bootstrapSteps: readonly BootstrapStep[] = [
  { name: "start-system-namespaces-controller", run: createNamespaces },
  { name: "priority-and-fairness-config-producer", run: keepFlowControl },
  { name: "priority-and-fairness-config-consumer", run: keepDanglingConditions },
  { name: "rbac/bootstrap-roles", run: reconcileRbac },
  { name: "scheduling/bootstrap-system-priority-classes", run: createPriorityClasses },
  { name: "start-kubernetes-service-cidr-controller", run: createServiceCidr },
  { name: "bootstrap-controller", run: createKubernetesService },
  { name: "peer-endpoint-reconciler-controller", run: keepEndpoints },
  { name: "start-service-ip-repair-controllers", run: keepAddresses },
  { name: "start-cluster-authentication-info-controller", run: publishAuthenticationConfig },
  { name: "apiservice-registration-controller", run: createApiServices },
  { name: "crd-informer-synced", run: (server) => new CustomResourceRegistrar(server).start() },
  { name: "start-kube-aggregator-informers", run: startAggregation },
];
