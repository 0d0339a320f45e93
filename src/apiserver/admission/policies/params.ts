/** The objects that a binding hands to its policy as `params` (documentation page "Validating Admission Policy", "Parameter resources"). */
import type { ParamKind, ParamRef } from "../../../api/admissionregistration-v1/types.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { apiVersionOf } from "../../../apimachinery/object.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { matchesLabels, selectorFromObject } from "../../../apimachinery/selectors/label-selector.ts";
import { prepareVersions, readVersion } from "../../registry/versions/convert.ts";
import { printed } from "../../registry/storage/object-codec.ts";
import { relativeKey } from "../../registry/resource-definition.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { AdmissionRequest } from "../chain.ts";
import { namespaceOf, resourceOfKind } from "../matching/rules.ts";

/** `undefined` among the params: the policy takes none; null: it takes some and the binding names none. */
export type Params = { readonly params: readonly (JsonObject | null | undefined)[] } | { readonly fault: string };

/** Fault of a policy whose `paramKind` is not served. */
export function paramKindFault(request: AdmissionRequest, paramKind: ParamKind | undefined): string | undefined {
  if (paramKind === undefined) return undefined;
  const { apiVersion = "", kind = "" } = paramKind;
  return resourceOfKind(request, apiVersion, kind) === undefined ? `failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'` : undefined;
}

export async function paramsOf(request: AdmissionRequest, paramKind: ParamKind | undefined, paramRef: ParamRef | undefined): Promise<Params> {
  if (paramKind === undefined) return { params: [undefined] };
  if (paramRef === undefined) return { params: [null] };
  const definition = resourceOfKind(request, paramKind.apiVersion ?? "", paramKind.kind ?? "")!;
  const namespace = paramNamespace(request, definition, paramRef);
  if (typeof namespace === "object") return namespace;
  const params = await findParams(definition, namespace, paramRef);
  if (params.length === 0 && paramRef.parameterNotFoundAction === "Deny")
    return { fault: "no params found for policy binding with `Deny` parameterNotFoundAction" };
  return { params };
}

function paramNamespace(request: AdmissionRequest, definition: ResourceDefinition, { namespace = "" }: ParamRef): string | { readonly fault: string } {
  if (!definition.isNamespaced) return namespace === "" ? "" : { fault: "paramRef.namespace must not be provided for a cluster-scoped `paramKind`" };
  if (namespace !== "") return namespace;
  const own = namespaceOf(request);
  return own === "" ? { fault: "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources" } : own;
}

async function findParams(definition: ResourceDefinition, namespace: string, { name = "", selector }: ParamRef): Promise<JsonObject[]> {
  const cache = definition.storage?.cache;
  if (cache === undefined) return [];
  if (name !== "") {
    const stored = cache.get(relativeKey(definition, namespace, name));
    if (stored === undefined) return [];
    await prepareVersions(definition, [stored]);
    return [shown(definition, readVersion(definition, stored))];
  }
  const wanted = selectorFromObject(selector);
  const found = [...cache.state.prefixed(definition.isNamespaced ? `${namespace}/` : "")].map(([, stored]) => stored);
  await prepareVersions(definition, found);
  const objects = found.map((stored) => readVersion(definition, stored));
  return objects.filter(({ metadata }) => matchesLabels(wanted, metadata.labels)).map((object) => shown(definition, object));
}

function shown(definition: ResourceDefinition, object: KubeObject): JsonObject {
  return { kind: definition.kind, apiVersion: apiVersionOf(definition.group, definition.version), ...printed(definition, object) };
}
