/** Merges an applied configuration into a live object. */
import { deepEqual, isObject, setMember } from "../../json.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import type { ListSchema, Schema } from "../../schema.ts";
import { itemElement } from "../sets/path-element.ts";
import { itemSchema, memberSchema, shapeOf } from "./typed-shape.ts";

/** `live` with the fields of `config`; both stay as they are, the result shares parts with them. */
export function mergeTyped(live: JsonObject, config: JsonObject, schema: Schema): JsonObject {
  return mergeMaps(live, config, schema);
}

function mergeValues(live: JsonValue | undefined, config: JsonValue | undefined, schema: Schema): JsonValue | undefined {
  if (config === undefined || live === undefined) return config ?? live;
  const shape = shapeOf(schema, config === null ? live : config);
  if (shape === "leaf" || isVoid(config)) return isVoid(config) && shape !== "leaf" && !isVoid(live) ? live : config;
  if (shape === "map") return isObject(live) && shapeOf(schema, live) === "map" ? mergeMaps(live, config as JsonObject, schema) : config;
  return Array.isArray(live) ? mergeLists(live, config as JsonValue[], schema as ListSchema) : config;
}

/** Null or empty: as a configuration it adds nothing to a map or a list that has content. */
function isVoid(value: JsonValue): boolean {
  return value === null || (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
}

function mergeMaps(live: JsonObject, config: JsonObject, schema: Schema): JsonObject {
  const merged = { ...live };
  for (const name in config) {
    const member = memberSchema(schema, name);
    const current = Object.hasOwn(live, name) ? live[name] : undefined;
    const value = member === undefined ? config[name] : mergeValues(current, config[name], member);
    if (value !== undefined && value !== current) setMember(merged, name, value);
  }
  return merged;
}

/**
 * Items of both lists: the configuration's in its own order, the others where they stood between those that both have. An item that both
 * have is merged; live items that cannot be told apart are replaced by the configuration's.
 */
function mergeLists(live: JsonValue[], config: JsonValue[], schema: ListSchema): JsonValue[] {
  const liveElements = live.map((item) => elementOf(item, schema));
  const configElements = config.map((item) => elementOf(item, schema));
  const inConfig = new Set(configElements);
  const liveItems = uniqueItems(live, liveElements);
  const liveSet = new Set(liveElements);
  const shared = configElements.filter((element) => liveSet.has(element));
  const merged: JsonValue[] = [];
  const placed = new Set<string>();
  const place = (index: number) => {
    const element = configElements[index]!;
    placed.add(element);
    merged.push(mergeValues(liveItems.get(element), config[index], itemSchema(schema))!);
  };
  let liveIndex = 0;
  let configIndex = 0;
  let nextShared = 0;
  while (liveIndex < live.length || configIndex < config.length) {
    const element = liveElements[liveIndex];
    if (element !== undefined && !inConfig.has(element)) {
      merged.push(live[liveIndex++]!);
      continue;
    }
    if (element !== undefined && configIndex < config.length) {
      if (element === configElements[configIndex]) {
        place(configIndex++);
        liveIndex++;
        nextShared++;
        continue;
      }
      if (nextShared < shared.length && shared[nextShared] !== element) {
        liveIndex++;
        continue;
      }
    }
    if (element !== undefined && placed.has(element)) liveIndex++;
    if (configIndex >= config.length) continue;
    if (configElements[configIndex] === shared[nextShared]) nextShared++;
    place(configIndex++);
  }
  return merged.length === live.length && deepEqual(merged, live) ? live : merged;
}

function elementOf(item: JsonValue, schema: ListSchema): string {
  const found = itemElement(item, schema);
  return "fault" in found ? "" : found.element;
}

function uniqueItems(list: JsonValue[], elements: string[]): Map<string, JsonValue> {
  const items = new Map<string, JsonValue>();
  const repeated = new Set<string>();
  for (const [index, element] of elements.entries()) {
    if (items.has(element)) repeated.add(element);
    items.set(element, list[index]!);
  }
  for (const element of repeated) items.delete(element);
  return items;
}
