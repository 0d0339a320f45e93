/** Continue tokens of paged lists: base64url of `{"v":"meta.k8s.io/v1","rv":N,"start":"key"}`; a revision of -1 means "as it is now". */
import { decodeUntyped } from "../../../apimachinery/decode/decode-object.ts";
import { isObject } from "../../../apimachinery/json.ts";
import { StatusError, badRequestError } from "../../../apimachinery/status.ts";
import { tooOldMessage } from "../../registry/storage/storage-errors.ts";

export interface ContinueToken {
  readonly revision: number;
  /** First key of the next page, below the list's own prefix. */
  readonly start: string;
}

export function encodeContinue(revision: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start })).toString("base64url");
}

/** Reads a token. Throws 400. */
export function decodeContinue(token: string): ContinueToken {
  const invalid = (detail: string) => badRequestError(`invalid continue token: continue key is not valid: ${detail}`);
  if (!/^[A-Za-z0-9_-]*$/.test(token)) throw invalid(`illegal base64 data at input byte ${token.search(/[^A-Za-z0-9_-]/)}`);
  if (token.length % 4 === 1) throw invalid(`illegal base64 data at input byte ${token.length - 1}`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    throw invalid(jsonFault(Buffer.from(token, "base64url")));
  }
  const fault = typeFault(value);
  if (fault !== undefined) throw invalid(fault);
  const parsed = (value ?? {}) as { v?: string | null; rv?: number | null; start?: string | null };
  if (parsed.v !== "meta.k8s.io/v1") throw invalid(`server does not recognize this encoded version ${parsed.v ?? ""}`);
  if (!Number.isSafeInteger(parsed.rv) || parsed.rv === 0) throw invalid(`incorrect encoded start resourceVersion (version meta.k8s.io/v1)`);
  if ((parsed.start ?? "") === "") throw invalid("encoded start key empty (version meta.k8s.io/v1)");
  if (parsed.start!.split("/").includes("..")) throw invalid(parsed.start!);
  return { revision: parsed.rv!, start: parsed.start! };
}

/** What Go's JSON decoder says of a value that is no token; null passes for nothing. */
function typeFault(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type storage.continueToken`;
  for (const [name, type] of [
    ["v", "string"],
    ["rv", "int64"],
    ["start", "string"],
  ] as const) {
    const member = value[name];
    if (member === undefined || member === null || typeof member === (type === "string" ? "string" : "number")) continue;
    return `json: cannot unmarshal ${jsonTypeOf(member)} into Go struct field continueToken.${name} of type ${type}`;
  }
  return undefined;
}

const jsonTypeOf = (value: unknown) => (Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value);

/** What Go's JSON decoder says of bytes that are none. */
function jsonFault(bytes: Uint8Array): string {
  try {
    decodeUntyped(bytes, { mediaType: "json" });
    return "incorrect encoded start resourceVersion (version meta.k8s.io/v1)";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** 410: the list's revision is gone. `inconsistent` lets the client go on with the present state. */
export function expiredContinue(inconsistent: string | undefined): StatusError {
  return new StatusError({
    message: inconsistent === undefined ? "The resourceVersion for the provided list is too old." : tooOldMessage,
    reason: "Expired",
    code: 410,
    ...(inconsistent !== undefined && { metadata: { continue: inconsistent } }),
  });
}
