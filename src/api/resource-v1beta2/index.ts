/** The kind of resource.k8s.io that behaves otherwise in its older versions. */
import { renaming } from "../conversions.ts";
import { convertedStrategy } from "../converted-strategy.ts";
import { deviceTaintRules } from "../resource-v1/devicetaintrule.ts";
import type { KindStrategy } from "../strategy.ts";

/** A PUT may leave out the version, and DELETE answers the object. */
function olderTaintRules(version: string): KindStrategy {
  const strategy = convertedStrategy(
    { group: "resource.k8s.io", version, kind: "DeviceTaintRule" },
    deviceTaintRules,
    renaming(`resource.k8s.io/${version}`, "resource.k8s.io/v1"),
  );
  return { ...strategy, update: { ...strategy.update, allowsUnconditional: true }, delete: { answer: "object" } };
}

export const resourceV1beta2Strategies: readonly KindStrategy[] = [olderTaintRules("v1beta2"), olderTaintRules("v1alpha3")];
