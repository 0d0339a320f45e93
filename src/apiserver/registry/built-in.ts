/** Definitions of all built-in resources, made from data and strategies. */
import type { KindStrategy } from "../../api/strategy.ts";
import { typeRegistry } from "../../api/registry.ts";
import { strategies } from "../../api/strategies.ts";
import type { TablePrinter } from "../../api/table.ts";
import { tablePrinters } from "../../api/table-printers.ts";
import { conversions } from "../../api/conversions.ts";
import { pathSegmentName } from "../../apimachinery/names.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import columns from "../../api/data/columns.json" with { type: "json" };
import discovery from "../../api/data/discovery.json" with { type: "json" };
import type { Cacher } from "../cache/cacher.ts";
import { fieldLabelsOf } from "./field-labels.ts";
import type { ResourceDefinition, StorageDefinition, SubresourceDefinition, TableColumn, TableDefinition } from "./resource-definition.ts";

interface DiscoveredResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly { readonly name: string; readonly responseKind?: { readonly group: string; readonly version: string; readonly kind: string }; readonly verbs: readonly string[] }[];
}
interface DiscoveredGroup {
  readonly group: string;
  readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveredResource[] }[];
}

/** Resources whose key is not `/registry/RESOURCE/`. */
const storageNames: Readonly<Record<string, string>> = {
  "/nodes": "minions",
  "/services": "services/specs",
  "/endpoints": "services/endpoints",
  "/replicationcontrollers": "controllers",
  "networking.k8s.io/ingresses": "ingress",
  "apiextensions.k8s.io/customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions",
  "apiregistration.k8s.io/apiservices": "apiregistration.k8s.io/apiservices",
};

/** Kinds stored in another group or version than they are served in. */
const storedElsewhere: Readonly<Record<string, { group: string; version: string }>> = {
  "events.k8s.io/v1/Event": { group: "", version: "v1" },
  "autoscaling/v1/HorizontalPodAutoscaler": { group: "autoscaling", version: "v2" },
};

/** Kinds that upstream stores in an older version than it serves: discovery's hash shows it. */
const hashedVersions: Readonly<Record<string, string>> = { CustomResourceDefinition: "v1beta1", ClusterTrustBundle: "v1beta1", PodCertificateRequest: "v1beta1", DeviceTaintRule: "v1beta2" };

export interface BuiltInOptions {
  readonly cacher: Cacher;
  readonly storageRoot: string;
  readonly eventTtlSeconds: number;
}

/** All resources that are served by default, in discovery's order. */
export function builtInDefinitions(options: BuiltInOptions): ResourceDefinition[] {
  const groups = Object.values(discovery as unknown as Record<string, DiscoveredGroup>);
  return groups.flatMap((group) => group.versions.flatMap(({ version, resources }) => resources.map((resource) => define(group.group, version, resource, options))));
}

function define(group: string, version: string, resource: DiscoveredResource, options: BuiltInOptions): ResourceDefinition {
  const schema = schemaOf(group, version, resource.kind);
  const isStored = resource.verbs.includes("get") && resource.verbs.includes("create");
  const conversion = conversions.get(`${group}/${version}/${resource.kind}`);
  return {
    group,
    version,
    resource: resource.name,
    singular: resource.singularName,
    kind: resource.kind,
    listKind: `${resource.kind}List`,
    isNamespaced: resource.namespaced,
    isCustom: false,
    verbs: new Set(resource.verbs),
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    subresources: new Map((resource.subresources ?? []).map((subresource) => [subresource.name, defineSubresource(subresource, group, version)])),
    schema,
    strategy: isStored ? (strategies.get(`${group}/${version}/${resource.kind}`) ?? plainStrategy(group, version, resource.kind, schema)) : undefined,
    storage: isStored ? storageOf(group, version, resource, options) : undefined,
    ...(conversion !== undefined && { conversion }),
    table: tableOf(group, version, resource),
    fieldLabels: fieldLabelsOf(group, version, resource),
  };
}

function defineSubresource(subresource: NonNullable<DiscoveredResource["subresources"]>[number], group: string, version: string): SubresourceDefinition {
  const kind = subresource.responseKind;
  return {
    name: subresource.name,
    kind: kind?.kind ?? "",
    group: kind === undefined || kind.group === "" ? (kind?.version ? "" : group) : kind.group,
    version: kind === undefined || kind.version === "" ? version : kind.version,
    verbs: new Set(subresource.verbs),
  };
}

function storageOf(group: string, version: string, resource: DiscoveredResource, options: BuiltInOptions): StorageDefinition {
  const elsewhere = storedElsewhere[`${group}/${version}/${resource.kind}`] ?? { group, version };
  const name = storageNames[`${group}/${resource.name}`] ?? resource.name;
  const prefix = `${options.storageRoot}${name}/`;
  return {
    prefix,
    gvk: { ...elsewhere, kind: resource.kind },
    schema: schemaOf(elsewhere.group, elsewhere.version, resource.kind),
    cache: options.cacher.cache(prefix),
    ...(resource.kind === "Event" && { ttlSeconds: options.eventTtlSeconds }),
    ...(["CustomResourceDefinition", "APIService"].includes(resource.kind) && { isJson: true }),
    ...(hashedVersions[resource.kind] !== undefined && { hashedVersion: hashedVersions[resource.kind]! }),
  };
}

function schemaOf(group: string, version: string, kind: string): StructSchema {
  const schema = typeRegistry.kind(group, version, kind);
  if (schema === undefined) throw new Error(`no schema of ${group}/${version} ${kind}`);
  return schema;
}

function tableOf(group: string, version: string, resource: DiscoveredResource): TableDefinition | undefined {
  const { name, kind } = resource;
  const path = group === "" ? `${version}/${name}` : `${group}/${version}/${name}`;
  const found = (columns as unknown as Record<string, TableColumn[] | null>)[path];
  const printer = tablePrinters.get(`${group}/${version}/${name}`) ?? convertedPrinter(group, version, { name, kind });
  return found === null || found === undefined || printer === undefined ? undefined : { columns: found, printer };
}

/** Rows of a version that is not stored are those of the stored one. */
function convertedPrinter(group: string, version: string, { name, kind }: { readonly name: string; readonly kind: string }): TablePrinter | undefined {
  const conversion = conversions.get(`${group}/${version}/${kind}`);
  const stored = storedElsewhere[`${group}/${version}/${kind}`];
  const printer = stored === undefined ? undefined : tablePrinters.get(`${stored.group}/${stored.version}/${name}`);
  if (conversion === undefined || printer === undefined) return undefined;
  return { ...printer, cells: (object: KubeObject, context) => printer.cells(conversion.toStored(object), context) };
}

/** A kind without rules of its own. */
function plainStrategy(group: string, version: string, kind: string, schema: StructSchema): KindStrategy {
  const hasStatus = schema.fields.has("status");
  return {
    gvk: { group, version, kind },
    nameRule: pathSegmentName,
    generation: "none",
    create: {
      prepare(object) {
        if (hasStatus) delete object["status"];
      },
    },
    update: {
      prepare(object, old) {
        if (hasStatus) object["status"] = old["status"];
      },
    },
    ...(hasStatus && {
      status: {
        prepare(object, old) {
          if (old["spec"] !== undefined) object["spec"] = old["spec"];
        },
      },
    }),
  };
}
