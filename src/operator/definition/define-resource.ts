/** A custom resource as one value: its type, its CustomResourceDefinition, and the resource by which clients and reconcilers name it. */
import type {
  CustomResourceDefinition,
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from "../../api/apiextensions-v1/types.ts";
import type { Condition } from "../../api/meta-v1/types.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { KubeObject, ObjectMeta } from "../../apimachinery/object.ts";
import type { ResourceType } from "../../client/index.ts";
import { conditionsSchema, schema } from "./schema.ts";
import type { Infer, Schema } from "./schema.ts";

/** What a custom resource is made of: its names, its schemas, what `kubectl` shows of it. */
export interface ResourceDefinitionOptions<Spec extends Schema, Status extends Schema> {
  /** Such as `example.com`. */
  readonly group: string;
  readonly kind: string;
  /** The version that is stored. Default `v1`. */
  readonly version?: string;
  /** Default: the kind in lower case with an `s`. */
  readonly plural?: string;
  /** Default `Namespaced`. */
  readonly scope?: "Namespaced" | "Cluster";
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly spec: Spec;
  /** An object; `observedGeneration` and `conditions` are added to it. */
  readonly status?: Status;
  /** What `kubectl get` shows beside name and age. */
  readonly columns?: readonly Column[];
  /** Makes `kubectl scale` and autoscalers work: the paths of what is wanted, what there is, and the selector as text. */
  readonly scale?: { readonly specReplicas: string; readonly statusReplicas: string; readonly selector?: string };
  /** Further versions that are served, converted by the operator's webhook. */
  readonly versions?: readonly ServedVersion[];
}

/** A column of `kubectl get` (additionalPrinterColumns of a CustomResourceDefinition). */
export interface Column {
  readonly name: string;
  /** JSONPath from the object: `.status.primary`, `.status.conditions[?(@.type=="Ready")].status`. */
  readonly path: string;
  /** Default `string`. */
  readonly type?: "string" | "integer" | "number" | "boolean" | "date";
  /** Shown only by `-o wide`. */
  readonly isWide?: boolean;
  readonly description?: string;
}

/** Another version of a resource. Both functions get and return a whole object's spec and status; metadata is the SDK's. */
export interface ServedVersion {
  readonly name: string;
  readonly spec: Schema;
  readonly status?: Schema;
  readonly isDeprecated?: boolean;
  toStored(content: VersionContent): VersionContent;
  fromStored(content: VersionContent): VersionContent;
}
/** What differs between versions of an object. */
export interface VersionContent {
  readonly spec: Record<string, unknown>;
  readonly status?: Record<string, unknown>;
}

/** An object of a custom resource. */
export interface CustomObject<Spec, Status> extends KubeObject {
  spec: Spec;
  status?: Status & CommonStatus;
}
/** What the SDK keeps in every status. */
export interface CommonStatus {
  /** The generation that the status speaks of. */
  observedGeneration?: number;
  conditions?: Condition[];
}

/** What `defineResource` returns: a `ResourceType` that knows its definition. */
export interface ResourceDefinition<Spec = unknown, Status = unknown> extends ResourceType<CustomObject<Spec, Status>> {
  readonly versions: readonly ServedVersion[];
  /** The CustomResourceDefinition, to be applied. */
  readonly definition: CustomResourceDefinition;
  /** An object with kind and apiVersion; what has a default may be left out. */
  object(metadata: ObjectMeta & { name: string }, spec: Partial<Spec>): CustomObject<Spec, Status>;
}

/** The objects of a definition: `type Website = ObjectOf<typeof websites>`. */
export type ObjectOf<R> = R extends ResourceType<infer T> ? T : never;

/** Defines a custom resource. Throws a TypeError when spec or status is no object. */
export function defineResource<Spec extends Schema, Status extends Schema = Schema<object, "required">>(
  options: ResourceDefinitionOptions<Spec, Status>,
): ResourceDefinition<Infer<Spec>, Infer<Status>> {
  const { group, kind, version = "v1", scope = "Namespaced" } = options;
  const resource = options.plural ?? `${kind.toLowerCase()}s`;
  return {
    group,
    version,
    resource,
    kind,
    isNamespaced: scope === "Namespaced",
    versions: options.versions ?? [],
    definition: definitionOf(options, { version, resource, scope }),
    object: (metadata, spec) => ({ apiVersion: apiVersionOf(group, version), kind, metadata, spec: spec as Infer<Spec> }),
  };
}

function definitionOf(
  options: ResourceDefinitionOptions<Schema, Schema>,
  names: { version: string; resource: string; scope: string },
): CustomResourceDefinition {
  const { group, kind, shortNames, categories, versions = [] } = options;
  const { version, resource, scope } = names;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope,
      names: {
        plural: resource,
        singular: kind.toLowerCase(),
        kind,
        listKind: `${kind}List`,
        ...(shortNames !== undefined && { shortNames: [...shortNames] }),
        ...(categories !== undefined && { categories: [...categories] }),
      },
      versions: [
        versionOf(options, { name: version, spec: options.spec, ...(options.status !== undefined && { status: options.status }) }, true),
        ...versions.map((other) => versionOf(options, other, false)),
      ],
    },
  };
}

interface Version {
  readonly name: string;
  readonly spec: Schema;
  readonly status?: Schema;
  readonly isDeprecated?: boolean;
}

function versionOf(
  { columns = [], scale }: ResourceDefinitionOptions<Schema, Schema>,
  { name, spec, status, isDeprecated }: Version,
  isStored: boolean,
): CustomResourceDefinitionVersion {
  if (spec.json.type !== "object" || (status !== undefined && status.json.type !== "object"))
    throw new TypeError(`spec and status of version ${name} must be objects`);
  const base = status?.json ?? { type: "object" };
  const statusJson: JSONSchemaProps = {
    ...base,
    properties: { ...base.properties, observedGeneration: schema.integer().json, conditions: conditionsSchema.json },
  };
  return {
    name,
    served: true,
    storage: isStored,
    ...(isDeprecated === true && { deprecated: true }),
    schema: {
      openAPIV3Schema: {
        type: "object",
        required: ["spec"],
        properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" }, spec: spec.json, status: statusJson },
      },
    },
    subresources: {
      status: {},
      ...(scale !== undefined && {
        scale: {
          specReplicasPath: scale.specReplicas,
          statusReplicasPath: scale.statusReplicas,
          ...(scale.selector !== undefined && { labelSelectorPath: scale.selector }),
        },
      }),
    },
    additionalPrinterColumns: [...columns.map(columnOf), { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
  };
}

function columnOf({ name, path, type = "string", isWide, description }: Column): CustomResourceColumnDefinition {
  return { name, type, jsonPath: path, ...(isWide === true && { priority: 1 }), ...(description !== undefined && { description }) };
}
