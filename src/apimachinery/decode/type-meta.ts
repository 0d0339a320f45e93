/** apiVersion and kind, read before the type of a body is known. */
import { DecodeError } from "./decode-error.ts";
import { ExactMembers } from "./exact-parser.ts";
import type { ExactNode } from "./exact-parser.ts";
import { nodeKind } from "./exact-decode.ts";

export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Of a body read exactly; throws a `DecodeError` of reason `version`. Names match whatever their case, as in Go's plain decoder. */
export function typeMetaOfNode(node: ExactNode): TypeMeta {
  if (node === null) return { apiVersion: "", kind: "" };
  if (!(node instanceof ExactMembers)) throw versionError(`${nodeKind(node)} into Go value of type ${goType}`);
  const found = { apiversion: "", kind: "" };
  let fault: DecodeError | undefined;
  node.keys.forEach((key, index) => {
    const name = typeMetaName(key);
    if (name === undefined) return;
    const value = node.values[index]!;
    if (typeof value === "string") found[name] = value;
    else if (value !== null) fault ??= versionError(`${nodeKind(value)} into Go struct field .${name === "kind" ? "kind" : "apiVersion"} of type string`);
  });
  if (fault !== undefined) throw fault;
  return { apiVersion: found.apiversion, kind: found.kind };
}

/** Which of the two a member is. */
export function typeMetaName(key: string): "apiversion" | "kind" | undefined {
  const name = key.toLowerCase();
  return name === "apiversion" || name === "kind" ? name : undefined;
}

const goType = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function versionError(detail: string): DecodeError {
  return new DecodeError("version", `json: cannot unmarshal ${detail}`);
}
