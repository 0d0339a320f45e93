/** `matchConstraints` of a policy and `matchResources` of a binding. */
import type { MatchResources } from "../../../api/admissionregistration-v1/types.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { AdmissionRequest } from "../chain.ts";
import { matchedDefinition } from "../matching/rules.ts";
import { compileSelectors } from "../matching/selectors.ts";

/** Gives the version in which the object is looked at; undefined when the request is none of its. */
export type ResourceMatch = (request: AdmissionRequest) => ResourceDefinition | undefined;

export function compileMatch({
  namespaceSelector,
  objectSelector,
  resourceRules = [],
  excludeResourceRules = [],
  matchPolicy,
}: MatchResources = {}): ResourceMatch {
  const isSelected = compileSelectors({ ...(namespaceSelector && { namespaceSelector }), ...(objectSelector && { objectSelector }) });
  return (request) => {
    // A binding without rules takes what its policy takes.
    const definition = resourceRules.length === 0 ? request.definition : matchedDefinition(resourceRules, request, matchPolicy);
    if (definition === undefined || !isSelected(request)) return undefined;
    return matchedDefinition(excludeResourceRules, request, matchPolicy) === undefined ? definition : undefined;
  };
}
