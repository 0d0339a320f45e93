/** Services (API reference "Service v1 core"). Addresses and ports are allocated by the API server, after `prepare`. */
import { deepCopy } from "../../../apimachinery/json.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { labelName } from "../../../apimachinery/names.ts";
import { defineKind } from "../../strategy.ts";
import type { RuleContext } from "../../strategy.ts";
import type { Service } from "../types.ts";
import { applyServiceDefaults } from "./defaults.ts";
import { strictnessOf } from "../../meta/strictness.ts";
import { familiesOf, settleFamilies } from "./families.ts";
import { dropFieldsOfOldType, keepAllocated, syncClusterIps, trimToSingleStack } from "./prepare.ts";
import { serviceStatusWarnings, validateServiceStatus } from "./status.ts";
import { validateServiceChange } from "./update.ts";
import { validateService } from "./validation.ts";
import { serviceWarnings } from "./warnings.ts";

export const services = defineKind<Service>({
  gvk: { group: "", version: "v1", kind: "Service" },
  nameRule: labelName,
  generation: "none",
  defaults: applyServiceDefaults,
  create: {
    prepare: (service, context) => {
      service.status = {};
      syncClusterIps(service, undefined);
      settle(service, undefined, context);
    },
    validate: (service, context) => unsettled(service, undefined, context) ?? validateService(service, undefined, strictnessOf(context)),
    warnings: serviceWarnings,
  },
  update: {
    allowsCreate: true,
    prepare: (service, old, context) => {
      service.status = deepCopy(old.status ?? {});
      dropFieldsOfOldType(service, old);
      keepAllocated(service, old);
      syncClusterIps(service, old);
      trimToSingleStack(service, old);
      settle(service, old, context);
    },
    validate: (service, old, context) =>
      unsettled(service, old, context) ?? [...validateServiceChange(service, old), ...validateService(service, old, strictnessOf(context))],
    warnings: serviceWarnings,
    resetFields: ["status"],
  },
  status: {
    prepare: (service, old) => {
      service.spec = deepCopy(old.spec ?? {});
    },
    validate: validateServiceStatus,
    warnings: serviceStatusWarnings,
    resetFields: ["spec"],
  },
  delete: { answer: "object" },
  selectableFields: ({ spec = {} }) => ({ "spec.clusterIP": spec.clusterIP ?? "", "spec.type": spec.type ?? "" }),
});

function settle(service: Service, old: Service | undefined, context: RuleContext): void {
  settleFamilies(service, old, familiesOf(context.settings.serviceCidrs), strictnessOf(context));
}

/** Faults about families come before, and instead of, all others. */
function unsettled(service: Service, old: Service | undefined, context: RuleContext): FieldError[] | undefined {
  const errors = settleFamilies(deepCopy(service), old, familiesOf(context.settings.serviceCidrs), strictnessOf(context));
  return errors.length > 0 ? errors : undefined;
}
