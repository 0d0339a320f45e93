/** Definitions of all built-in resources, made from data and strategies. */
import type { KindStrategy } from "../../api/strategy.ts";
import { typeRegistry } from "../../api/registry.ts";
import { strategies } from "../../api/strategies.ts";
import type { TablePrinter } from "../../api/table.ts";
import { tablePrinters } from "../../api/table-printers.ts";
import type { VersionConversion } from "../../api/conversions.ts";
import { convertedStrategy } from "../../api/converted-strategy.ts";
import { pathSegmentName } from "../../apimachinery/names.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { GroupVersionKind, KubeObject } from "../../apimachinery/object.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import columns from "../../api/data/columns.json" with { type: "json" };
import type { Cacher } from "../cache/cacher.ts";
import { fieldLabelsOf } from "./field-labels.ts";
import { deprecationText, servedGroups } from "./versions/served-versions.ts";
import type { DiscoveredResource, VersionChoice } from "./versions/served-versions.ts";
import { storageName } from "./storage/storage-keys.ts";
import { conversionOf, storedKind } from "./versions/stored-versions.ts";
import type { ResourceDefinition, StorageDefinition, SubresourceDefinition, TableColumn, TableDefinition } from "./resource-definition.ts";

/** Kinds that upstream stores in an older version than it serves: discovery's hash shows it. */
const hashedVersions: Readonly<Record<string, string>> = {
  CustomResourceDefinition: "v1beta1",
  ClusterTrustBundle: "v1beta1",
  PodCertificateRequest: "v1beta1",
  DeviceTaintRule: "v1beta2",
  StorageVersionMigration: "v1beta1",
};

export interface BuiltInOptions {
  readonly cacher: Cacher;
  readonly storageRoot: string;
  readonly eventTtlSeconds: number;
  readonly versions: VersionChoice;
}

/** All built-in resources that `options.versions` has served, in discovery's order. */
export function builtInDefinitions(options: BuiltInOptions): ResourceDefinition[] {
  return servedGroups(options.versions).flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) => resources.map((resource) => define(group, version, resource, options))),
  );
}

function define(group: string, version: string, resource: DiscoveredResource, options: BuiltInOptions): ResourceDefinition {
  const schema = schemaOf(group, version, resource.kind);
  const isStored = resource.verbs.includes("get") && resource.verbs.includes("create");
  const conversion = isStored ? conversionOf(group, version, resource.kind) : undefined;
  const deprecation = deprecationText(group, version, resource.kind, options.versions.emulatedVersion);
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
    strategy: isStored ? strategyOf({ group, version, kind: resource.kind }, schema, conversion) : undefined,
    storage: isStored ? storageOf(group, resource, options) : undefined,
    ...(conversion !== undefined && { conversion }),
    ...(deprecation !== undefined && { deprecationWarning: deprecation }),
    table: tableOf(group, version, resource, conversion),
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

/** The rules of a version that is not stored are those of the stored one. */
function strategyOf(gvk: GroupVersionKind, schema: StructSchema, conversion: VersionConversion | undefined): KindStrategy {
  const own = strategies.get(keyOf(gvk));
  if (own !== undefined) return own;
  const stored = conversion === undefined ? undefined : strategies.get(keyOf(storedKind(gvk.group, gvk.kind)));
  return stored === undefined || conversion === undefined ? plainStrategy(gvk, schema) : convertedStrategy(gvk, stored, conversion);
}

const keyOf = ({ group, version, kind }: GroupVersionKind) => `${group}/${version}/${kind}`;

function storageOf(group: string, resource: DiscoveredResource, options: BuiltInOptions): StorageDefinition {
  const gvk = storedKind(group, resource.kind);
  const prefix = `${options.storageRoot}${storageName(group, resource.name)}/`;
  return {
    prefix,
    gvk,
    schema: schemaOf(gvk.group, gvk.version, resource.kind),
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

/** Rows of a version that is not stored are those of the stored one. */
function tableOf(group: string, version: string, { name, kind }: DiscoveredResource, conversion: VersionConversion | undefined): TableDefinition | undefined {
  const paths = [`${apiVersionOf(group, version)}/${name}`];
  let printer = tablePrinters.get(`${group}/${version}/${name}`);
  if (conversion !== undefined) {
    const stored = storedKind(group, kind);
    paths.push(`${apiVersionOf(stored.group, stored.version)}/${name}`);
    printer ??= convertedPrinter(tablePrinters.get(`${stored.group}/${stored.version}/${name}`), conversion);
  }
  const found = paths.map((path) => columnTable[path]).find((one) => one !== undefined && one !== null);
  return found === undefined || found === null || printer === undefined ? undefined : { columns: found, printer };
}

const columnTable = columns as unknown as Readonly<Record<string, TableColumn[] | null>>;

function convertedPrinter(printer: TablePrinter | undefined, conversion: VersionConversion): TablePrinter | undefined {
  return printer && { ...printer, cells: (object: KubeObject, context) => printer.cells(conversion.toStored(object), context) };
}

/** A kind without rules of its own. */
function plainStrategy(gvk: GroupVersionKind, schema: StructSchema): KindStrategy {
  const hasStatus = schema.fields.has("status");
  return {
    gvk,
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
