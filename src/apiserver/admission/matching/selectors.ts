/** Namespace and object selectors of policies and webhooks. */
import { matchesLabels, selectorFromObject } from "../../../apimachinery/selectors/label-selector.ts";
import type { LabelSelector, LabelSelectorObject } from "../../../apimachinery/selectors/label-selector.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionRequest } from "../chain.ts";
import { isNamespaceResource, namespaceOf } from "./rules.ts";

/** Says whether both selectors take the request. Absent selectors take everything. */
export function compileSelectors({
  namespaceSelector,
  objectSelector,
}: {
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
}): (request: AdmissionRequest) => boolean {
  const [byNamespace, byObject] = [selectorOf(namespaceSelector), selectorOf(objectSelector)];
  return (request) => (byNamespace === undefined || selectsNamespace(byNamespace, request)) && (byObject === undefined || selectsObject(byObject, request));
}

/** Undefined when it takes everything. */
function selectorOf(object: LabelSelectorObject | undefined): LabelSelector | undefined {
  if (object === undefined) return undefined;
  const selector = selectorFromObject(object);
  return selector.requirements.length === 0 && !selector.selectsNothing ? undefined : selector;
}

/** What is in no namespace is always selected; a namespace that is written is judged by its new labels. */
function selectsNamespace(selector: LabelSelector, request: AdmissionRequest): boolean {
  const { definition, object, subresource, context } = request;
  if (isNamespaceResource(definition) && subresource === "" && object !== undefined) return matchesLabels(selector, object.metadata.labels);
  const namespace = namespaceOf(request);
  if (namespace === "") return true;
  return matchesLabels(selector, findObject(context.server, "/namespaces", "", namespace)?.metadata.labels);
}

/** The new object or the old one: otherwise an object could change its labels to escape. */
function selectsObject(selector: LabelSelector, { object, oldObject }: AdmissionRequest): boolean {
  const selects = (candidate: KubeObject | undefined) => candidate?.metadata !== undefined && matchesLabels(selector, candidate.metadata.labels);
  return selects(object) || selects(oldObject);
}
