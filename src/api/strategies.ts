/** Every kind's strategy, by `group/version/Kind` of all versions that share it. */
import { admissionregistrationV1Strategies } from "./admissionregistration-v1/index.ts";
import { apiextensionsV1Strategies } from "./apiextensions-v1/index.ts";
import { apiregistrationV1Strategies } from "./apiregistration-v1/index.ts";
import { apiserverinternalV1alpha1Strategies } from "./apiserverinternal-v1alpha1/index.ts";
import { appsV1Strategies } from "./apps-v1/index.ts";
import { autoscalingV1Strategies } from "./autoscaling-v1/index.ts";
import { autoscalingV2Strategies } from "./autoscaling-v2/index.ts";
import { batchV1Strategies } from "./batch-v1/index.ts";
import { certificatesV1Strategies } from "./certificates-v1/index.ts";
import { coordinationV1Strategies } from "./coordination-v1/index.ts";
import { coordinationV1beta1Strategies } from "./coordination-v1beta1/index.ts";
import { coreV1Strategies } from "./core-v1/index.ts";
import { discoveryV1Strategies } from "./discovery-v1/index.ts";
import { eventsV1Strategies } from "./events-v1/index.ts";
import { flowcontrolV1Strategies } from "./flowcontrol-v1/index.ts";
import { lifecycleV1alpha1Strategies } from "./lifecycle-v1alpha1/index.ts";
import { networkingV1Strategies } from "./networking-v1/index.ts";
import { nodeV1Strategies } from "./node-v1/index.ts";
import { policyV1Strategies } from "./policy-v1/index.ts";
import { rbacV1Strategies } from "./rbac-v1/index.ts";
import { resourceV1Strategies } from "./resource-v1/index.ts";
import { resourceV1alpha3Strategies } from "./resource-v1alpha3/index.ts";
import { resourceV1beta2Strategies } from "./resource-v1beta2/index.ts";
import { schedulingV1Strategies } from "./scheduling-v1/index.ts";
import { schedulingV1alpha3Strategies } from "./scheduling-v1alpha3/index.ts";
import { schedulingV1beta1Strategies } from "./scheduling-v1beta1/index.ts";
import { storageV1Strategies } from "./storage-v1/index.ts";
import { storagemigrationV1Strategies } from "./storagemigration-v1/index.ts";
import type { KindStrategy } from "./strategy.ts";

const all: readonly KindStrategy[] = [
  ...admissionregistrationV1Strategies,
  ...apiextensionsV1Strategies,
  ...apiregistrationV1Strategies,
  ...apiserverinternalV1alpha1Strategies,
  ...appsV1Strategies,
  ...autoscalingV1Strategies,
  ...autoscalingV2Strategies,
  ...batchV1Strategies,
  ...certificatesV1Strategies,
  ...coordinationV1beta1Strategies,
  ...coordinationV1Strategies,
  ...coreV1Strategies,
  ...discoveryV1Strategies,
  ...eventsV1Strategies,
  ...flowcontrolV1Strategies,
  ...lifecycleV1alpha1Strategies,
  ...networkingV1Strategies,
  ...nodeV1Strategies,
  ...policyV1Strategies,
  ...rbacV1Strategies,
  ...resourceV1alpha3Strategies,
  ...resourceV1Strategies,
  ...resourceV1beta2Strategies,
  ...schedulingV1alpha3Strategies,
  ...schedulingV1beta1Strategies,
  ...schedulingV1Strategies,
  ...storagemigrationV1Strategies,
  ...storageV1Strategies,
];

export const strategies: ReadonlyMap<string, KindStrategy> = new Map(
  all.map((strategy) => [`${strategy.gvk.group}/${strategy.gvk.version}/${strategy.gvk.kind}`, strategy]),
);
