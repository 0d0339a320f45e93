/** From a CustomResourceDefinition to the resources that the server serves for it, one per served version. */
import type { JsonObject } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { customColumns, effectiveColumns } from "../../api/custom-columns.ts";
import type { CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionVersion } from "../../api/apiextensions-v1/types.ts";
import type { KindStrategy } from "../../api/strategy.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type {
  FieldLabels,
  ResourceDefinition,
  StorageDefinition,
  SubresourceDefinition,
  TableColumn,
  TableDefinition,
} from "../registry/resource-definition.ts";
import { compareVersions } from "../discovery/documents.ts";
import { CustomResourceCodec } from "./codec.ts";
import type { VersionConverter } from "./conversion/webhook-converter.ts";
import { isTerminating } from "./conditions.ts";
import { selectableField } from "./selectable-fields.ts";
import { customResourceStrategy } from "./strategy.ts";
import { VersionSchema } from "./version-schema.ts";

export interface DefinitionSource {
  readonly crd: CustomResourceDefinition;
  readonly cache: ResourceCache;
  /** Aborts when the definition's spec changes or the definition goes. */
  readonly lifetime: AbortSignal;
  /** Conversion strategy Webhook; absent: None. */
  readonly convert?: VersionConverter | undefined;
}

/** The resources of all served versions, as discovery lists them. */
export function resourcesOf(source: DefinitionSource): ResourceDefinition[] {
  const versions = source.crd.spec.versions ?? [];
  const schemas = new Map(versions.map((version) => [version.name, new VersionSchema(() => (version.schema?.openAPIV3Schema ?? {}) as unknown as JsonObject)]));
  return versions.filter(({ served }) => served).map((version) => new CustomResource(source, version, schemas));
}

const allVerbs: ReadonlySet<string> = new Set(["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]);
const lastVerbs: ReadonlySet<string> = new Set(["delete", "deletecollection", "get", "list", "watch"]);
const subresourceVerbs: ReadonlySet<string> = new Set(["get", "patch", "update"]);

/** One version of a custom resource. What needs its schema is made when it is first asked for. */
class CustomResource implements ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly isNamespaced: boolean;
  readonly isCustom = true;
  readonly verbs: ReadonlySet<string>;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: ReadonlyMap<string, SubresourceDefinition>;
  readonly storage: StorageDefinition;
  readonly fieldLabels: FieldLabels;
  readonly lifetime: AbortSignal;
  readonly creationRefusal?: string;
  readonly deprecationWarning?: string;
  readonly codec: CustomResourceCodec;
  readonly scale?: NonNullable<ResourceDefinition["scale"]>;
  readonly #crdVersion: CustomResourceDefinitionVersion;
  readonly #schemas: ReadonlyMap<string, VersionSchema>;
  #strategy: KindStrategy | undefined;
  #table: TableDefinition | undefined;

  constructor({ crd, cache, lifetime, convert }: DefinitionSource, version: CustomResourceDefinitionVersion, schemas: ReadonlyMap<string, VersionSchema>) {
    const { spec } = crd;
    const names = { ...spec.names, ...crd.status?.acceptedNames };
    const terminates = isTerminating(crd);
    this.group = spec.group;
    this.version = version.name;
    this.resource = names.plural;
    this.singular = names.singular ?? "";
    this.kind = names.kind;
    this.listKind = names.listKind ?? `${names.kind}List`;
    this.isNamespaced = spec.scope === "Namespaced";
    this.verbs = terminates ? lastVerbs : allVerbs;
    this.shortNames = names.shortNames ?? [];
    this.categories = names.categories ?? [];
    this.subresources = subresourcesOf(version, this);
    const storedVersion = (spec.versions ?? []).find(({ storage }) => storage)?.name ?? version.name;
    const gvk = { group: this.group, version: this.version, kind: this.kind };
    const schemaOf = () => this.schema;
    this.storage = {
      prefix: cache.prefix,
      gvk: { ...gvk, version: storedVersion },
      get schema() {
        return schemaOf();
      },
      cache,
      isJson: true,
    };
    this.fieldLabels = fieldLabelsOf(version);
    this.lifetime = lifetime;
    if (terminates) this.creationRefusal = "create not allowed while custom resource definition is terminating";
    if (version.deprecated === true) this.deprecationWarning = version.deprecationWarning ?? deprecationText(this, spec.versions ?? []);
    this.codec = new CustomResourceCodec({ gvk, storedVersion, schemas, storagePath: `/${this.group}/${this.resource}/`, convert });
    const scale = version.subresources?.scale;
    if (scale !== undefined)
      this.scale = { specReplicas: scale.specReplicasPath, statusReplicas: scale.statusReplicasPath, labelSelector: scale.labelSelectorPath };
    this.#crdVersion = version;
    this.#schemas = schemas;
  }

  get schema() {
    return this.#schemas.get(this.version)!.typed;
  }

  get openApiSchema(): JsonObject | undefined {
    return this.#crdVersion.schema?.openAPIV3Schema as JsonObject | undefined;
  }

  get strategy(): KindStrategy {
    return (this.#strategy ??= customResourceStrategy({
      gvk: { group: this.group, version: this.version, kind: this.kind },
      schema: this.#schemas.get(this.version)!,
      hasStatus: this.subresources.has("status"),
      scale: this.scale,
      selectableFields: (this.#crdVersion.selectableFields ?? []).map(({ jsonPath }) => selectableField(jsonPath)),
    }));
  }

  get table(): TableDefinition {
    return (this.#table ??= tableOf(this.#crdVersion.additionalPrinterColumns));
  }
}

/** Says which version to use instead: the newest one that is served and not deprecated itself. */
function deprecationText(
  { group, version, kind }: { group: string; version: string; kind: string },
  versions: readonly CustomResourceDefinitionVersion[],
): string {
  const [better] = versions
    .filter(({ served, deprecated }) => served && deprecated !== true)
    .map(({ name }) => name)
    .sort(compareVersions);
  const advice = better === undefined || compareVersions(better, version) > 0 ? "" : `; use ${group}/${better} ${kind}`;
  return `${group}/${version} ${kind} is deprecated${advice}`;
}

function subresourcesOf(version: CustomResourceDefinitionVersion, owner: { group: string; version: string; kind: string }): Map<string, SubresourceDefinition> {
  const found = new Map<string, SubresourceDefinition>();
  const { status, scale } = version.subresources ?? {};
  if (status !== undefined) found.set("status", { name: "status", kind: owner.kind, group: owner.group, version: owner.version, verbs: subresourceVerbs });
  if (scale !== undefined) found.set("scale", { name: "scale", kind: "Scale", group: "autoscaling", version: "v1", verbs: subresourceVerbs });
  return found;
}

function fieldLabelsOf(version: CustomResourceDefinitionVersion): FieldLabels {
  const own = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, ""));
  return { accepted: new Set(["metadata.name", "metadata.namespace", ...own]), refuse: (label) => `field label not supported: ${label}` };
}

export const nameColumn: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  priority: 0,
};

function tableOf(columns: DeepReadonly<CustomResourceColumnDefinition[]> | undefined): TableDefinition {
  const shown = effectiveColumns(columns).map(({ name, type, format = "", description = "", priority = 0, jsonPath }): TableColumn => ({
    name,
    type,
    format,
    description: description === "" ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
    priority,
  }));
  return { columns: [nameColumn, ...shown], printer: customColumns(columns) };
}
