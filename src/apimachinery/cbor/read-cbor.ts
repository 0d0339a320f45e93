/**
 * Reads CBOR (RFC 8949) as Kubernetes does (KEP-4222): strings come as text or as bytes, bytes that are meant as such carry the tag of the text
 * that they become (22: base64), and nothing is passed over silently. Does not recurse.
 */
import { Tokenizer, Type } from "cborg";
import type { Token } from "cborg";
import { DecodeError } from "../decode/decode-error.ts";
import { ExactMembers, NumberText } from "../decode/exact-parser.ts";
import type { ExactNode } from "../decode/exact-parser.ts";

/** What Kubernetes writes in front of each document: the tag that says "this is CBOR". */
export const selfDescribed = Buffer.from([0xd9, 0xd9, 0xf7]);

/** The one document in `bytes`. Throws a `DecodeError` of reason `syntax`. */
export function readCbor(bytes: Uint8Array): ExactNode {
  try {
    const reader = new Reader(bytes);
    const node = reader.read();
    if (reader.rest > 0) throw fault(`${reader.rest} bytes of extraneous data starting at index ${bytes.length - reader.rest}`);
    return node;
  } catch (error) {
    if (error instanceof DecodeError) throw error;
    throw new DecodeError("syntax", `cbor: ${error instanceof Error ? error.message.replace("CBOR decode error: ", "") : String(error)}`, error);
  }
}

/** Deeper documents are refused. */
const maxDepth = 64;
const maxInteger = 2n ** 63n - 1n;
const minInteger = -(2n ** 63n);

/** A container that is being read. */
interface Open {
  readonly container: ExactMembers | ExactNode[];
  /** Names that were met, to refuse the second of the same. */
  readonly names: Set<string>;
  /** Items or members that follow; infinite until a break where the length was not told. */
  remaining: number;
  /** Whether a member's name was read, and its value comes. */
  hasName: boolean;
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #tokens: Tokenizer;
  readonly #open: Open[] = [];
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#tokens = new Tokenizer(bytes, { allowIndefinite: true, allowUndefined: true, allowInfinity: false, allowNaN: false, allowBigInt: true });
  }

  /** Bytes that were not read. */
  get rest(): number {
    return this.#bytes.length - this.#tokens.pos();
  }

  read(): ExactNode {
    for (;;) {
      let value = this.#next();
      if (value === undefined) continue;
      for (let parent = this.#open.at(-1); ; parent = this.#open.at(-1)) {
        if (parent === undefined) return value;
        this.#place(parent, value);
        if (parent.remaining > 0) break;
        value = this.#open.pop()!.container;
      }
    }
  }

  /** The next whole value, or undefined when a container was opened. */
  #next(): ExactNode | undefined {
    let tag: number | undefined;
    for (;;) {
      const token = this.#token();
      if (Type.equals(token.type, Type.tag)) {
        tag = this.#tag(token);
        continue;
      }
      if (Type.equals(token.type, Type.break)) return this.#close();
      if (Type.equals(token.type, Type.map)) return this.#start(new ExactMembers(), token.value as number);
      if (Type.equals(token.type, Type.array)) return this.#start([], token.value as number);
      return this.#scalar(token, tag);
    }
  }

  #token(): Token {
    if (this.#tokens.done()) throw fault(this.#bytes.length === 0 ? "EOF" : "unexpected EOF");
    return this.#tokens.next();
  }

  /** The tag, where it says something of the bytes that follow. */
  #tag({ value }: Token): number | undefined {
    if (value === 2 || value === 3) throw fault("cannot use CBOR bignum");
    return value as number;
  }

  #start(container: ExactMembers | ExactNode[], length: number): ExactNode | undefined {
    if (length === 0) return container;
    if (this.#open.length >= maxDepth) throw fault(`exceeded max nested level ${maxDepth}`);
    this.#open.push({ container, names: new Set(), remaining: length, hasName: false });
    return undefined;
  }

  #close(): ExactNode {
    const open = this.#open.pop();
    if (open === undefined || open.remaining !== Infinity || open.hasName) throw fault('unexpected "break" code');
    return open.container;
  }

  #place(parent: Open, value: ExactNode): void {
    const { container } = parent;
    if (Array.isArray(container)) container.push(value);
    else if (parent.hasName) {
      container.values.push(value);
      parent.hasName = false;
    } else {
      if (typeof value !== "string") throw fault("a map's key is no string");
      if (parent.names.has(value)) throw fault(`found duplicate map key ${JSON.stringify(value)} at map element index ${container.keys.length}`);
      parent.names.add(value);
      container.keys.push(value);
      parent.hasName = true;
      return;
    }
    parent.remaining--;
  }

  #scalar({ type, value }: Token, tag: number | undefined): ExactNode {
    switch (type.name) {
      case "uint":
      case "negint":
        if (typeof value === "bigint" && (value > maxInteger || value < minInteger)) throw fault(`${value} does not fit into 64 bits`);
        return new NumberText(String(value));
      case "float":
        return new NumberText(floatText(value as number));
      case "string":
        return value as string;
      case "bytes":
        return this.#text(value as Uint8Array, tag);
      case "true":
      case "false":
        return value as boolean;
      default:
        // Undefined is taken for null.
        return null;
    }
  }

  #text(bytes: Uint8Array, tag: number | undefined): string {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    switch (tag) {
      case 21:
        return buffer.toString("base64url");
      case 22:
        return buffer.toString("base64");
      case 23:
        return buffer.toString("hex");
      default:
        return this.#utf8.decode(bytes);
    }
  }
}

/** A float stays one when it is whole. */
function floatText(value: number): string {
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function fault(message: string): DecodeError {
  return new DecodeError("syntax", `cbor: ${message}`);
}
