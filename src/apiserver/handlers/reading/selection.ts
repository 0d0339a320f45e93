/** Label, field and shard selectors of a list, watch or deletecollection. */
import { exactFieldValue, matchesFields, parseFieldSelector } from "../../../apimachinery/selectors/field-selector.ts";
import type { FieldSelector } from "../../../apimachinery/selectors/field-selector.ts";
import { matchesLabels, parseLabelSelector } from "../../../apimachinery/selectors/label-selector.ts";
import type { LabelSelector } from "../../../apimachinery/selectors/label-selector.ts";
import { badRequestError } from "../../../apimachinery/status.ts";
import type { SortedMap } from "../../../base/sorted-map.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import { readVersion } from "../../registry/versions/convert.ts";
import { fieldValues } from "../../registry/field-values.ts";
import type { RequestContext } from "../../request-context.ts";
import { byteFilter } from "./byte-filter.ts";
import { parseShardSelector } from "./shard-selector.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";

export interface Selection {
  /** Keys below this prefix come into question. */
  readonly keyPrefix: string;
  /** Set when the selectors leave at most one key. */
  readonly onlyKey: string | undefined;
  /** Whether there is nothing to test beside the key. */
  readonly isEverything: boolean;
  /** Which shard was asked for, as it was written. */
  readonly shardSelector?: string;
  /** Of an object that can be read in this version. */
  matches(stored: StoredObject): boolean;
  /** What comes into question. */
  candidates(state: SortedMap<StoredObject>): StoredObject[];
}

/** Reads the selectors of a request. Throws 400, and 500 for a selector of shards. */
export function parseSelection({ info, query, server }: RequestContext, definition: ResourceDefinition): Selection {
  const { namespace, name: pathName } = info;
  const shardText = server.isEnabled("ShardedListAndWatch") ? (query.get("shardSelector") ?? "") : "";
  const shard = shardText === "" ? undefined : parseShardSelector(shardText);
  const labels = readLabels(query);
  const fields = [...readFields(definition, query), ...(pathName === "" ? [] : [{ field: "metadata.name", isEqual: true, value: pathName }])];
  const exactName = exactFieldValue(fields, "metadata.name");
  const exactNamespace = exactFieldValue(fields, "metadata.namespace");
  const inNamespace = definition.isNamespaced ? namespace || (exactNamespace ?? "") : "";
  const isEverything = labels.requirements.length === 0 && fields.length === 0 && shard === undefined;
  const keyPrefix = inNamespace === "" ? "" : `${inNamespace}/`;
  const onlyKey = exactName === undefined || exactName === "" || (definition.isNamespaced && inNamespace === "") ? undefined : keyPrefix + exactName;
  const maySelect = byteFilter(definition, { labels, fields });
  return {
    keyPrefix,
    onlyKey,
    isEverything,
    ...(shard !== undefined && { shardSelector: shard.text }),
    candidates(state) {
      const only = onlyKey === undefined ? undefined : state.get(onlyKey);
      if (onlyKey !== undefined) return only === undefined ? [] : [only];
      return [...state.prefixed(keyPrefix)].map(([, stored]) => stored);
    },
    matches(stored) {
      if (isEverything) return true;
      if (!maySelect(stored)) return false;
      if (fields.length > 0 && !matchesFields(fields, fieldValues(definition, stored))) return false;
      if (shard !== undefined && !shard.matches(readVersion(definition, stored).metadata)) return false;
      return labels.requirements.length === 0 || matchesLabels(labels, readVersion(definition, stored).metadata.labels ?? {});
    },
  };
}

function readLabels(query: URLSearchParams): LabelSelector {
  const text = query.get("labelSelector") ?? "";
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw badRequestError(error instanceof Error ? error.message : String(error));
  }
}

function readFields(definition: ResourceDefinition, query: URLSearchParams): FieldSelector {
  const text = query.get("fieldSelector") ?? "";
  let fields: FieldSelector;
  try {
    fields = parseFieldSelector(text);
  } catch (error) {
    throw badRequestError(error instanceof Error ? error.message : String(error));
  }
  for (const { field } of fields) {
    if (!definition.fieldLabels.accepted.has(field)) throw badRequestError(definition.fieldLabels.refuse(field));
  }
  return fields;
}
