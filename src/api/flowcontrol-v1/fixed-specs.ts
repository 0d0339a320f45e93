/** Specs that every cluster has as they are: what lets the server's own requests through, and what catches all others (KEP-1040). */
import type { FlowSchemaSpec, PolicyRulesWithSubjects, PriorityLevelConfigurationSpec } from "./types.ts";

const everything: Omit<PolicyRulesWithSubjects, "subjects"> = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const group = (name: string) => ({ kind: "Group", group: { name } });

export const fixedFlowSchemas: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  ["exempt", { priorityLevelConfiguration: { name: "exempt" }, matchingPrecedence: 1, rules: [{ subjects: [group("system:masters")], ...everything }] }],
  [
    "catch-all",
    {
      priorityLevelConfiguration: { name: "catch-all" },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: "ByUser" },
      rules: [{ subjects: [group("system:unauthenticated"), group("system:authenticated")], ...everything }],
    },
  ],
]);

export const fixedPriorityLevels: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map<string, PriorityLevelConfigurationSpec>([
  ["exempt", { type: "Exempt" }],
  ["catch-all", { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 } }],
]);
