/**
 * YAML 1.1 bodies as JSON, the way the API server reads them: the first document only, keys sorted and turned into text, anchors and
 * merge keys resolved, the last of duplicate keys kept and the others reported.
 */
import { EVENT_ID, SCALAR_STYLE, YAMLException, getScalarValue, parseEvents } from "js-yaml";
import type { Event } from "js-yaml";
import { DecodeError } from "../decode/decode-error.ts";
import { ExactMembers, NumberText, parseExact, plainValue } from "../decode/exact-parser.ts";
import type { ExactNode } from "../decode/exact-parser.ts";
import type { JsonValue } from "../json.ts";
import { goYamlError } from "./yaml-errors.ts";
import { resolvePlain, resolveTagged } from "./yaml-scalars.ts";
import type { YamlScalar } from "./yaml-scalars.ts";

/** The first document of `bytes` as JSON; duplicate keys are silent. Throws a `DecodeError` of reason `yaml` or `syntax`. */
export function yamlToJson(bytes: Uint8Array): JsonValue {
  return plainValue(bytes[0] === 0x7b ? readJsonOrYaml(bytes) : readYaml(bytes).node);
}

/** The first document of `bytes`, and the fault that names every duplicate key. Throws a `DecodeError` of reason `yaml` or `syntax`. */
export function readYaml(bytes: Uint8Array): { node: ExactNode; faults: string[] } {
  const source = firstDocument(decoder.decode(bytes));
  const reader = new YamlReader(source, events(source));
  const node = reader.read();
  const { duplicates } = reader;
  return { node, faults: duplicates.length === 0 ? [] : [`yaml: unmarshal errors:\n${duplicates.map((line) => `  ${line}`).join("\n")}`] };
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: false });
/** Levels of nesting; the YAML library reads nested collections by recursion. */
const maxYamlDepth = 1000;

function readJsonOrYaml(bytes: Uint8Array): ExactNode {
  try {
    return parseExact(bytes);
  } catch (error) {
    if (error instanceof DecodeError) return readYaml(bytes).node;
    throw error;
  }
}

/** Cuts the source where the first document ends, since nobody reads what follows. */
function firstDocument(source: string): string {
  const isOpen = /^(?!---(?:\s|$)|%|\s*#|\s*$)/m;
  const marker = /^(?:---|\.\.\.)(?=\s|$)/gm;
  for (let match = marker.exec(source); match !== null; match = marker.exec(source)) {
    const before = source.slice(0, match.index);
    if (match[0] === "..." || isOpen.test(before) || /^---\s/m.test(before)) return before;
  }
  return source;
}

function events(source: string): Event[] {
  try {
    return parseEvents(source, { maxDepth: maxYamlDepth });
  } catch (error) {
    if (error instanceof YAMLException) throw new DecodeError("yaml", goYamlError(error, source), error);
    throw error;
  }
}

interface Collection {
  readonly node: Map<string, ExactNode> | ExactNode[];
  /** Key that waits for its value. */
  key: { readonly text: string; readonly shown: string; readonly line: number; readonly isMerge?: boolean; readonly isNull?: boolean } | undefined;
  readonly anchor: string | undefined;
  /** Nodes inside, aliases counted as what they stand for. */
  size: number;
}

interface Anchored {
  readonly node: ExactNode;
  readonly size: number;
}

class YamlReader {
  readonly duplicates: string[] = [];
  readonly #source: string;
  readonly #events: Event[];
  readonly #anchors = new Map<string, Anchored>();
  readonly #open: Collection[] = [];
  readonly #lineStarts: number[] = [0];
  #root: ExactNode = null;
  #decoded = 0;
  #aliased = 0;

  constructor(source: string, list: Event[]) {
    this.#source = source;
    this.#events = list;
    for (let index = source.indexOf("\n"); index >= 0; index = source.indexOf("\n", index + 1)) this.#lineStarts.push(index + 1);
  }

  read(): ExactNode {
    for (const event of this.#events) {
      switch (event.type) {
        case EVENT_ID.DOCUMENT:
          break;
        case EVENT_ID.SEQUENCE:
        case EVENT_ID.MAPPING:
          this.#open.push({
            node: event.type === EVENT_ID.MAPPING ? new Map() : [],
            key: undefined,
            anchor: this.#slice(event.anchorStart, event.anchorEnd),
            size: 1,
          });
          break;
        case EVENT_ID.SCALAR: {
          const value = this.#scalar(event);
          const anchor = this.#slice(event.anchorStart, event.anchorEnd);
          if (anchor !== undefined) this.#anchors.set(anchor, { node: nodeOf(value), size: 1 });
          this.#add(value, event.valueStart, 1, event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0);
          break;
        }
        case EVENT_ID.ALIAS:
          this.#alias(event.anchorStart, event.anchorEnd);
          break;
        case EVENT_ID.POP:
          this.#close();
      }
    }
    return this.#root;
  }

  #close(): void {
    const collection = this.#open.pop();
    if (collection === undefined) return;
    const node = Array.isArray(collection.node) ? collection.node : sorted(collection.node);
    if (collection.anchor !== undefined) this.#anchors.set(collection.anchor, { node, size: collection.size });
    this.#add({ node }, 0, collection.size, false);
  }

  #alias(start: number, end: number): void {
    const name = this.#slice(start, end) ?? "";
    const anchored = this.#anchors.get(name);
    if (anchored === undefined)
      throw new DecodeError(
        "yaml",
        this.#open.some((collection) => collection.anchor === name)
          ? `yaml: anchor '${name}' value contains itself`
          : `yaml: unknown anchor '${name}' referenced`,
      );
    this.#aliased += anchored.size;
    this.#decoded += anchored.size;
    const isExcessive = this.#aliased > 100 && this.#decoded > 1000 && this.#aliased / this.#decoded > allowedAliasRatio(this.#decoded);
    if (isExcessive) throw new DecodeError("yaml", "yaml: document contains excessive aliasing");
    this.#add({ node: anchored.node }, start, anchored.size, false);
  }

  /** Hands a finished node to the collection around it: as an item, a key or a value. */
  #add(value: YamlScalar | { readonly node: ExactNode }, position: number, size: number, isPlain: boolean): void {
    this.#decoded++;
    const parent = this.#open.at(-1);
    if (parent === undefined) {
      this.#root = nodeOf(value);
      return;
    }
    parent.size += size;
    if (Array.isArray(parent.node)) parent.node.push(nodeOf(value));
    else if (parent.key === undefined) parent.key = this.#key(value, position, isPlain);
    else if (parent.key.isNull) {
      throw new DecodeError("yaml", `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${JSON.stringify(plainValue(nodeOf(value)))}`);
    } else {
      const { key } = parent;
      parent.key = undefined;
      if (key.isMerge) this.#merge(parent.node, nodeOf(value), key.line);
      else this.#set(parent.node, key, nodeOf(value));
    }
  }

  #key(value: YamlScalar | { readonly node: ExactNode }, position: number, isPlain: boolean): NonNullable<Collection["key"]> {
    const line = this.#line(position);
    const node = nodeOf(value);
    if (typeof node === "string") return { text: node, shown: JSON.stringify(node), line, isMerge: isPlain && node === "<<" };
    if (typeof node === "boolean") return { text: String(node), shown: String(node), line };
    if (node instanceof NumberText) return { text: node.text, shown: node.text, line };
    if (node === null) return { text: "null", shown: "null", line, isNull: true };
    const shown = JSON.stringify(plainValue(node)).slice(1, -1);
    throw new DecodeError(
      "yaml",
      `yaml: invalid map key: ${Array.isArray(node) ? "[]interface {}" : "map[interface {}]interface {}"}{${Array.isArray(node) ? shown.replaceAll(",", ", ") : shown}}`,
    );
  }

  #set(target: Map<string, ExactNode>, key: { text: string; shown: string; line: number }, value: ExactNode): void {
    if (target.has(key.text)) this.duplicates.push(`line ${key.line}: key ${key.shown} already set in map`);
    target.set(key.text, value);
  }

  #merge(target: Map<string, ExactNode>, value: ExactNode, line: number): void {
    const sources = Array.isArray(value) ? value.toReversed() : [value];
    for (const source of sources) {
      if (!(source instanceof ExactMembers)) throw new DecodeError("yaml", "yaml: map merge requires map or sequence of maps as the value");
      source.keys.forEach((text, index) => this.#set(target, { text, shown: JSON.stringify(text), line }, source.values[index]!));
    }
  }

  #scalar(event: Extract<Event, { type: typeof EVENT_ID.SCALAR }>): YamlScalar {
    const text = getScalarValue(this.#source, event);
    const tag = this.#slice(event.tagStart, event.tagEnd);
    const value = tag !== undefined ? resolveTagged(text, tag) : event.style === SCALAR_STYLE.PLAIN ? resolvePlain(text) : ({ kind: "string", text } as const);
    if (value === undefined) throw new DecodeError("yaml", `yaml: cannot decode !!str \`${text.slice(0, 10)}\` as a ${tag}`);
    if (value.kind === "unsupported") throw new DecodeError("yaml", `json: unsupported value: ${value.text}`);
    return value;
  }

  #slice(start: number, end: number): string | undefined {
    return start < 0 ? undefined : this.#source.slice(start, end);
  }

  /** The line of a position, from 1. */
  #line(position: number): number {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= position) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }
}

function nodeOf(value: YamlScalar | { readonly node: ExactNode }): ExactNode {
  if ("node" in value) return value.node;
  switch (value.kind) {
    case "null":
      return null;
    case "bool":
      return value.value;
    case "number":
      return new NumberText(value.text);
    default:
      return value.text;
  }
}

/** Members in the order in which Go's JSON prints a map. */
function sorted(members: Map<string, ExactNode>): ExactMembers {
  const node = new ExactMembers();
  for (const key of [...members.keys()].sort(compareBytes)) {
    node.keys.push(key);
    node.values.push(members.get(key)!);
  }
  return node;
}

function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** The share of nodes that may come from aliases, by the number of nodes: 99 % for small documents, 10 % for the largest. */
function allowedAliasRatio(nodes: number): number {
  const [small, large] = [400_000, 4_000_000];
  if (nodes <= small) return 0.99;
  if (nodes >= large) return 0.1;
  return 0.99 - 0.89 * ((nodes - small) / (large - small));
}
