/** Whether a value has the types that its schema declares: what server-side apply checks of a configuration before it merges it. */
import { isObject, isRawNumber } from "../../json.ts";
import type { JsonValue } from "../../json.ts";
import { goSyntax, goText } from "../../patch/go-text.ts";
import type { ListSchema, ScalarSchema, Schema } from "../../schema.ts";
import { elementText, itemElement } from "../sets/path-element.ts";
import { isFreeForm, itemSchema, memberSchema } from "./typed-shape.ts";

/**
 * Every fault with its path, as Kubernetes prints them (`.spec.replicas: expected numeric (int or float), got string`); undefined when
 * there is none. Associative lists may not name an item twice.
 */
export function typedFaults(value: JsonValue, schema: Schema): string | undefined {
  const faults = valueFaults(value, schema);
  if (faults.length === 0) return undefined;
  const texts = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return texts.length === 1 ? texts[0] : ["errors:", ...texts.map((text) => `  ${text}`)].join("\n");
}

interface Fault {
  readonly path: string;
  readonly message: string;
}

const fault = (message: string): Fault[] => [{ path: "", message }];
const within = (step: string, faults: Fault[]): Fault[] => faults.map(({ path, message }) => ({ path: step + path, message }));

function valueFaults(value: JsonValue, schema: Schema): Fault[] {
  if (value === null) return [];
  switch (schema.shape) {
    case "struct":
    case "map":
      return isObject(value) ? mapFaults(value, schema) : fault(`expected map, got &{${goText(value)}}`);
    case "list":
      return Array.isArray(value) ? listFaults(value, schema) : fault(`expected list, got &{${goText(value)}}`);
    case "scalar":
      return scalarFaults(value, schema);
  }
}

/** An undeclared member ends the search, as upstream's does. */
function mapFaults(object: Readonly<Record<string, JsonValue>>, schema: Schema): Fault[] {
  const faults: Fault[] = [];
  for (const [name, value] of Object.entries(object)) {
    const member = memberSchema(schema, name);
    if (member === undefined) return [...faults, ...within(`.${name}`, fault("field not declared in schema"))];
    faults.push(...within(`.${name}`, valueFaults(value, member)));
  }
  return faults;
}

function listFaults(list: JsonValue[], schema: ListSchema): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    let step = `[${index}]`;
    if (schema.listType !== "atomic") {
      const found = itemElement(item, schema);
      if ("fault" in found) return [...faults, ...fault(`element ${index}: ${found.fault}`)];
      step = elementText(found.element);
      if (seen.has(found.element)) faults.push(...fault(`duplicate entries for key ${step}`));
      seen.add(found.element);
    }
    faults.push(...within(step, valueFaults(item, itemSchema(schema))));
  }
  return faults;
}

function scalarFaults(value: JsonValue, schema: ScalarSchema): Fault[] {
  switch (schema.scalar) {
    case "json":
      return isFreeForm(schema) || isObject(value) || schema.special !== "RawExtension" ? [] : fault(`expected map, got &{${goText(value)}}`);
    case "string":
    case "bytes":
    case "duration":
      return typeof value === "string" ? [] : fault(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
    case "bool":
      return typeof value === "boolean" ? [] : fault(`expected boolean, got &{${goText(value)}}`);
    case "time":
    case "microTime":
    case "quantity":
    case "intOrString":
      return Array.isArray(value) || isObject(value) ? fault(`expected any scalar, got &{${goText(value)}}`) : [];
    default:
      return typeof value === "number" || isRawNumber(value) ? [] : fault(`expected numeric (int or float), got ${goType(value)}`);
  }
}

function goType(value: JsonValue): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : "string";
}
