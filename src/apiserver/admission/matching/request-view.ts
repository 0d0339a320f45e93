/** What policies and webhooks are shown of a request: an admission.k8s.io/v1 AdmissionRequest, with objects in the version that their rule names. */
import { invariant } from "../../../base/invariant.ts";
import { canonicalize } from "../../../apimachinery/encode/canonical.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { apiVersionOf } from "../../../apimachinery/object.ts";
import type { GroupVersionKind, KubeObject } from "../../../apimachinery/object.ts";
import { StatusError, internalServerError } from "../../../apimachinery/status.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { scaleOf } from "../../handlers/subresources/scale.ts";
import { printed } from "../../registry/storage/object-codec.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionRequest } from "../chain.ts";
import { connectOptions, optionsOf } from "./request-options.ts";
import { namespaceOf } from "./rules.ts";

/** Everything is made when it is first asked for, after `prepare`. */
export class RequestView {
  readonly request: AdmissionRequest;
  /** The version that is shown. */
  readonly definition: ResourceDefinition;
  #object: JsonObject | null | undefined;
  #oldObject: JsonObject | null | undefined;
  #description: JsonObject | undefined;

  constructor(request: AdmissionRequest, definition: ResourceDefinition) {
    this.request = request;
    this.definition = definition;
  }

  get object(): JsonObject | null {
    if (this.#object === undefined)
      this.#object = this.request.operation === "CONNECT" ? connectOptions(this.request, this.kind) : this.#shown(this.request.object);
    return this.#object;
  }

  get oldObject(): JsonObject | null {
    if (this.#oldObject === undefined) this.#oldObject = this.#shown(this.request.oldObject);
    return this.#oldObject;
  }

  /** The object was changed. */
  forget(): void {
    this.#object = undefined;
  }

  /** To be awaited before the objects are looked at: a webhook may have to convert them. Rejects with a 500. */
  async prepare(): Promise<void> {
    if (!this.#isConverted) return;
    this.#object ??= await this.#converted(this.request.object);
    this.#oldObject ??= await this.#converted(this.request.oldObject);
  }

  /** Whether another version is shown than was sent. */
  get #isConverted(): boolean {
    const { definition, operation, subresource } = this.request;
    return definition !== this.definition && operation !== "CONNECT" && subresource !== "scale" && this.kind.kind === this.definition.kind;
  }

  async #converted(object: KubeObject | undefined): Promise<JsonObject | null> {
    return object === undefined ? null : this.#typed(printed(this.definition, await inVersion(object, this.request.definition, this.definition)));
  }

  get kind(): GroupVersionKind {
    return kindOf(this.definition, this.request.subresource);
  }

  /** The namespace's object, null when the request is in none. */
  get namespaceObject(): JsonObject | null {
    const namespace = namespaceOf(this.request);
    const found = namespace === "" ? undefined : findObject(this.request.context.server, "/namespaces", "", namespace);
    return (found as unknown as JsonObject | undefined) ?? null;
  }

  /** The AdmissionRequest without uid and objects. */
  get description(): JsonObject {
    return (this.#description ??= describe(this));
  }

  #shown(object: KubeObject | undefined): JsonObject | null {
    if (object === undefined) return null;
    const { definition: asked, subresource } = this.request;
    const { group, version, kind } = this.kind;
    if (subresource === "scale")
      return this.#typed(canonicalize(scaleOf(object, asked) as unknown as JsonObject, typeRegistry.kind("autoscaling", "v1", "Scale")!));
    if (kind !== this.definition.kind) return this.#typed(canonicalize(object as unknown as JsonObject, typeRegistry.kind(group, version, kind)!));
    invariant(!this.#isConverted, "a request was looked at before its objects were converted");
    return this.#typed(printed(this.definition, object));
  }

  #typed(json: JsonObject): JsonObject {
    const { group, version, kind } = this.kind;
    return { kind, apiVersion: apiVersionOf(group, version), ...json };
  }
}

/** The kind that a path takes: subresources may have their own. */
export function kindOf(definition: ResourceDefinition, subresource: string): GroupVersionKind {
  const { group, version, kind } = definition.subresources.get(subresource) ?? definition;
  return { group, version, kind };
}

/** An object of one served version in another. Rejects with a 500 when a webhook cannot convert it. */
export async function inVersion(object: KubeObject, from: ResourceDefinition, to: ResourceDefinition): Promise<KubeObject> {
  if (from === to) return object;
  if (from.codec === undefined) return builtInVersion(object, from, to);
  try {
    return await from.codec.convert(object, to.version);
  } catch (error) {
    throw error instanceof StatusError ? internalServerError(error.message, error) : error;
  }
}

function builtInVersion(object: KubeObject, from: ResourceDefinition, to: ResourceDefinition): KubeObject {
  const stored = from.conversion === undefined ? object : from.conversion.toStored(deepCopy(object));
  const converted = to.conversion === undefined ? stored : to.conversion.fromStored(stored);
  return { ...converted, kind: to.kind, apiVersion: apiVersionOf(to.group, to.version) };
}

function describe({ request, definition, kind }: RequestView): JsonObject {
  const { definition: asked, subresource, operation, context, isDryRun } = request;
  const namespace = namespaceOf(request);
  const name = request.name || (request.operation === "CREATE" ? (request.object?.metadata.name ?? "") : "");
  const resource = ({ group, version, resource: plural }: ResourceDefinition) => ({ group, version, resource: plural });
  const { username, uid = "", groups, extra } = context.user;
  return {
    kind: { ...kind },
    resource: resource(definition),
    ...(subresource !== "" && { subResource: subresource }),
    requestKind: { ...kindOf(asked, subresource) },
    requestResource: resource(asked),
    ...(subresource !== "" && { requestSubResource: subresource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: {
      ...(username !== "" && { username }),
      ...(uid !== "" && { uid }),
      ...(groups.length > 0 && { groups: [...groups] }),
      ...(extra !== undefined && Object.keys(extra).length > 0 && { extra: extra as JsonObject }),
    },
    dryRun: isDryRun,
    options: optionsOf(request),
  };
}
