/** Values without a schema: custom resources and patches. */
import { setMember } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { DecodeError } from "./decode-error.ts";
import { FaultList } from "./exact-decode.ts";
import { ExactMembers, NumberText, numberValue } from "./exact-parser.ts";
import type { ExactNode } from "./exact-parser.ts";

/** The plain value of a body, and its duplicate members in document order. Throws a `DecodeError` for numbers beyond float64. */
export function decodeUntypedNode(root: ExactNode): { value: JsonValue; faults: string[] } {
  const faults = new FaultList();
  const holder: JsonValue[] = [];
  const open: Frame[] = [{ node: [root], target: holder, path: "", seen: new Set(), next: 0 }];
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const { node, target, seen } = frame;
    const index = frame.next++;
    const isList = Array.isArray(node);
    if (index >= (isList ? node.length : node.keys.length)) {
      open.pop();
      continue;
    }
    const key = isList ? "" : node.keys[index]!;
    const path = memberPath(frame, key, index, open.length === 1);
    if (!isList && seen.has(key)) faults.duplicate(path);
    seen.add(key);
    const child = isList ? node[index]! : node.values[index]!;
    const value = startValue(child);
    if (Array.isArray(target)) target.push(value);
    else setMember(target, key, value);
    if (child instanceof ExactMembers || Array.isArray(child))
      open.push({ node: child, target: value as JsonObject | JsonValue[], path, seen: new Set(), next: 0 });
  }
  return { value: holder[0]!, faults: faults.texts };
}

interface Frame {
  readonly node: ExactMembers | ExactNode[];
  readonly target: JsonObject | JsonValue[];
  readonly path: string;
  readonly seen: Set<string>;
  next: number;
}

function memberPath(frame: Frame, key: string, index: number, isRoot: boolean): string {
  if (isRoot) return "";
  if (Array.isArray(frame.node)) return `${frame.path}[${index}]`;
  return frame.path === "" ? key : `${frame.path}.${key}`;
}

/** A scalar's value, or the empty container that its members will go into. */
function startValue(node: ExactNode): JsonValue {
  if (node instanceof ExactMembers) return {};
  if (Array.isArray(node)) return [];
  if (!(node instanceof NumberText)) return node;
  if (!Number.isFinite(Number(node.text))) throw new DecodeError("value", `json: cannot unmarshal number ${node.text} into Go value of type float64`);
  return numberValue(node.text);
}
