/** DeleteOptions: from the body when there is one (the query then does not count), else from the query. */
import type { JsonValue } from "../../apimachinery/json.ts";
import { DecodeError, decodeBody, readBody, typeMetaOf } from "../../apimachinery/decode/decode-object.ts";
import type { DecodeOptions } from "../../apimachinery/decode/decode-object.ts";
import { unrecognizedText } from "../../apimachinery/decode/decode-error.ts";
import { decodeMessage } from "../../apimachinery/protobuf/decode.ts";
import { openEnvelope } from "../../apimachinery/protobuf/envelope.ts";
import { invalid, notSupported } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import { badRequestError, invalidError } from "../../apimachinery/status.ts";
import { typeRegistry } from "../../api/registry.ts";
import type { RequestContext } from "../request-context.ts";
import { isTrue } from "../http/request-info.ts";
import { dryRunErrors } from "./options.ts";

export interface DeleteOptions {
  readonly isDryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly propagationPolicy: "Orphan" | "Background" | "Foreground" | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  /** Deletes an object that cannot be decoded, without finalizers (KEP-3926). */
  readonly ignoresReadErrors: boolean;
}

const schema = typeRegistry.struct("apimachinery.pkg.apis.meta.v1.DeleteOptions")!;

export interface RawDeleteOptions {
  kind?: string;
  apiVersion?: string;
  dryRun?: string[];
  gracePeriodSeconds?: number;
  orphanDependents?: boolean;
  propagationPolicy?: string;
  preconditions?: { uid?: string; resourceVersion?: string };
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

export function parseDeleteOptions(context: RequestContext): DeleteOptions {
  const raw = context.request.body.length > 0 ? fromBody(context.request.body, context.request.headers["content-type"]) : fromQuery(context.query);
  if (context.request.body.length > 0) context.audit?.noteRequestBody(raw as JsonValue);
  return checkedDeleteOptions(raw);
}

/** Throws 422. */
export function checkedDeleteOptions(raw: RawDeleteOptions): DeleteOptions {
  const errors = validate(raw);
  if (errors.length > 0) throw invalidError({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  return {
    isDryRun: (raw.dryRun ?? []).length > 0,
    gracePeriodSeconds: raw.gracePeriodSeconds,
    orphanDependents: raw.orphanDependents,
    propagationPolicy: raw.propagationPolicy as DeleteOptions["propagationPolicy"],
    preconditions: raw.preconditions,
    ignoresReadErrors: raw.ignoreStoreReadErrorWithClusterBreakingPotential === true,
  };
}

function fromBody(body: Uint8Array, contentType = ""): RawDeleteOptions {
  let options: RawDeleteOptions;
  try {
    options = contentType.includes("protobuf")
      ? fromProtobuf(body)
      : fromText(body, contentType.includes("yaml") ? "yaml" : contentType.includes("cbor") ? "cbor" : "json");
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequestError(error.reason === "value" ? error.message : unrecognizedText(error));
  }
  if ((options.kind ?? "") !== "" && options.kind !== "DeleteOptions") throw badRequestError(conversionFault(options));
  return options;
}

function fromText(body: Uint8Array, mediaType: DecodeOptions["mediaType"]): RawDeleteOptions {
  const read = readBody(body, { mediaType });
  typeMetaOf(read);
  return decodeBody(read, schema).object as RawDeleteOptions;
}

/** Clients name the version of the object that they delete, in which the options are a kind as well. */
function fromProtobuf(body: Uint8Array): RawDeleteOptions {
  const { kind, apiVersion, raw } = openEnvelope(body);
  return { kind, apiVersion, ...(decodeMessage(raw, schema) as RawDeleteOptions) };
}

function conversionFault({ kind = "", apiVersion = "v1" }: RawDeleteOptions): string {
  const version = parseApiVersion(apiVersion);
  const isKnown = version !== undefined && typeRegistry.kind(version.group, version.version, kind) !== undefined;
  return isKnown
    ? "decoded object cannot be converted to DeleteOptions"
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

function fromQuery(query: URLSearchParams): RawDeleteOptions {
  const options: RawDeleteOptions = {};
  if (query.has("dryRun")) options.dryRun = query.getAll("dryRun");
  const grace = query.get("gracePeriodSeconds");
  if (grace !== null) {
    if (!/^[+-]?\d+$/.test(grace)) throw badRequestError(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
    options.gracePeriodSeconds = Number(grace);
  }
  const orphan = query.get("orphanDependents");
  if (orphan !== null) options.orphanDependents = isTrue(orphan);
  const policy = query.get("propagationPolicy");
  if (policy !== null) options.propagationPolicy = policy;
  if (query.has("ignoreStoreReadErrorWithClusterBreakingPotential"))
    options.ignoreStoreReadErrorWithClusterBreakingPotential = isTrue(query.get("ignoreStoreReadErrorWithClusterBreakingPotential"));
  return options;
}

function validate(options: RawDeleteOptions): FieldError[] {
  const errors: FieldError[] = [];
  const policy = options.propagationPolicy;
  if (policy !== undefined && options.orphanDependents !== undefined) {
    errors.push(invalid(FieldPath.root("propagationPolicy"), policy, "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (policy !== undefined && !["Foreground", "Background", "Orphan"].includes(policy)) {
    errors.push(notSupported(FieldPath.root("propagationPolicy"), policy, ["Foreground", "Background", "Orphan", "nil"]));
  }
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
    const path = FieldPath.root("ignoreStoreReadErrorWithClusterBreakingPotential");
    const others = (["preconditions", "propagationPolicy", "orphanDependents", "gracePeriodSeconds"] as const).filter((name) => options[name] !== undefined);
    errors.push(...others.map((name) => invalid(path, true, `cannot be set together with .${name}`)));
  }
  return [...errors, ...dryRunErrors(options.dryRun ?? [])];
}
