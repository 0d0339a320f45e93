/** The body of a write as a typed object: content type, group-version-kind check, strict faults (field validation). */
import {
  DecodeError,
  decodeBody as decodeTypedBody,
  decodeUntypedBody,
  faultWarnings,
  readBody,
  typeMetaOf,
} from "../../../apimachinery/decode/decode-object.ts";
import { unrecognizedText } from "../../../apimachinery/decode/decode-error.ts";
import { decodeProtobuf } from "../../../apimachinery/protobuf/envelope.ts";
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import { StatusError, badRequestError } from "../../../apimachinery/status.ts";
import { apiVersionOf, parseApiVersion } from "../../../apimachinery/object.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Body, DecodeOptions } from "../../../apimachinery/decode/decode-object.ts";
import { isObject } from "../../../apimachinery/json.ts";
import type { StructSchema } from "../../../apimachinery/schema.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { servedMediaTypes } from "../../http/negotiation.ts";
import type { ServerState } from "../../server-state.ts";
import type { RequestContext } from "../../request-context.ts";
import type { ObjectCodec } from "../../registry/storage/object-codec.ts";
import type { WriteOptions } from "../../registry/options.ts";

export interface ExpectedType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: StructSchema;
  /** Reads objects that have no Go type. */
  readonly codec?: ObjectCodec;
}

/** Decodes the request's body. Throws 400, 413 or 415 as Kubernetes words them. */
export function decodeBody(context: RequestContext, expected: ExpectedType, fieldValidation: WriteOptions["fieldValidation"]): KubeObject {
  const { body, headers } = context.request;
  checkBodySize(context);
  const mediaType = requestMediaType(headers["content-type"], context.server);
  if (mediaType === "protobuf" && expected.codec !== undefined)
    throw unsupportedMediaType(servedMediaTypes(context.server).filter((type) => type !== "application/vnd.kubernetes.protobuf"));
  return mediaType === "protobuf" ? decodeProtobufBody(body, expected) : decodeText(context, body, mediaType, expected, fieldValidation);
}

export function checkBodySize(context: RequestContext): void {
  const limit = context.server.settings.maxBodyBytes;
  if (context.request.body.length > limit) {
    throw new StatusError({ message: `Request entity too large: limit is ${limit}`, reason: "RequestEntityTooLarge", code: 413 });
  }
}

/** The body's format. Throws 415. An absent content type means JSON. */
export function requestMediaType(contentType: string | undefined, server: Pick<ServerState, "isEnabled">): "json" | "yaml" | "protobuf" | "cbor" {
  const type = (contentType ?? "").split(";")[0]!.trim().toLowerCase();
  switch (type) {
    case "":
    case "application/json":
      return "json";
    case "application/yaml":
      return "yaml";
    case "application/vnd.kubernetes.protobuf":
      return "protobuf";
    default:
      if (type === "application/cbor" && servedMediaTypes(server).includes(type)) return "cbor";
      throw unsupportedMediaType(servedMediaTypes(server));
  }
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError({
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
    reason: "UnsupportedMediaType",
    code: 415,
  });
}

function decodeText(
  context: RequestContext,
  body: Uint8Array,
  mediaType: DecodeOptions["mediaType"],
  expected: ExpectedType,
  fieldValidation: WriteOptions["fieldValidation"],
): KubeObject {
  const read = readTyped(body, mediaType, expected);
  try {
    const { object, faults } = expected.codec === undefined ? decodeTypedBody(read, expected.schema) : decodeCustom(read, expected.codec);
    reportFaults(context, faults, fieldValidation, expected);
    if (expected.codec !== undefined) return object as unknown as KubeObject;
    return typed(object as unknown as KubeObject, expected);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequestError(`${expected.kind} in version ${JSON.stringify(expected.version)} cannot be handled as a ${expected.kind}: ${error.message}`);
  }
}

/** Reads the body and checks that its type is the one expected. */
function readTyped(bytes: Uint8Array, mediaType: DecodeOptions["mediaType"], expected: ExpectedType) {
  try {
    const body = readBody(bytes, { mediaType });
    const found = typeMetaOf(body);
    if (parseApiVersion(found.apiVersion) === undefined)
      throw badRequestError(
        `the object provided is unrecognized (must be of type ${expected.kind}): unexpected GroupVersion string: ${found.apiVersion} (${snippet(bytes)})`,
      );
    if (expected.codec !== undefined) checkCustomType(found, expected, bytes);
    else checkType(found, expected, (schema) => void decodeTypedBody(body, schema));
    return body;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequestError(`the object provided is unrecognized (must be of type ${expected.kind}): ${unrecognizedText(error)} (${snippet(bytes)})`);
  }
}

/** Faults of the text come before those of the schema. */
function decodeCustom(body: Body, codec: ObjectCodec) {
  const { value, faults } = decodeUntypedBody(body);
  if (!isObject(value)) throw new DecodeError("value", "the body is no object");
  const decoded = codec.decode(value);
  return { object: decoded.object, faults: [...faults, ...decoded.faults] };
}

/** A custom resource says its kind; whether it is the right one is a matter of validation. */
function checkCustomType(found: { apiVersion: string; kind: string }, expected: ExpectedType, bytes: Uint8Array): void {
  if (found.kind === "")
    throw badRequestError(
      `the object provided is unrecognized (must be of type ${expected.kind}): Object 'Kind' is missing in '${Buffer.from(bytes).toString()}' (${snippet(bytes)})`,
    );
  const expectedVersion = apiVersionOf(expected.group, expected.version);
  if (found.apiVersion !== expectedVersion)
    throw badRequestError(`the API version in the data (${found.apiVersion}) does not match the expected API version (${expectedVersion})`);
}

function typed(object: KubeObject, expected: ExpectedType): KubeObject {
  object.apiVersion = apiVersionOf(expected.group, expected.version);
  object.kind = expected.kind;
  object.metadata ??= {};
  return object;
}

/** The start of a body as error texts show it: text when printable, else hexadecimal. */
function snippet(body: Uint8Array): string {
  if (body.length === 0) return "<empty>";
  const text = Buffer.from(body).toString("utf8");
  if (/^[\t\n\r ]*\{/.test(text)) return text.length > 30 ? `${text.slice(0, 30)} ...` : text;
  const hex = Buffer.from(body).toString("hex");
  return hex.length > 60 ? `${hex.slice(0, 60)} ...` : hex;
}

/** A body of another kind is refused for what it is; `readAs` reads it as the kind it says to be. */
function checkType(found: { apiVersion?: string; kind?: string }, expected: ExpectedType, readAs?: (schema: StructSchema) => void): void {
  const kind = found.kind ?? "";
  const apiVersion = found.apiVersion ?? "";
  const expectedVersion = apiVersionOf(expected.group, expected.version);
  if ((kind === "" || kind === expected.kind) && (apiVersion === "" || apiVersion === expectedVersion)) return;
  const [group, version] =
    apiVersion === ""
      ? [expected.group, expected.version]
      : apiVersion.includes("/")
        ? [apiVersion.slice(0, apiVersion.indexOf("/")), apiVersion.slice(apiVersion.indexOf("/") + 1)]
        : ["", apiVersion];
  const gvk = { group, version, kind: kind === "" ? expected.kind : kind };
  const schema = typeRegistry.kind(gvk.group, gvk.version, gvk.kind);
  if (schema === undefined && !registeredBesides.has(`${apiVersion}/${gvk.kind}`)) {
    throw badRequestError(
      `${gvk.kind} in version ${goQuote(gvk.version)} cannot be handled as a ${expected.kind}: no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(apiVersion === "" ? expectedVersion : apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  if (gvk.kind === expected.kind)
    throw badRequestError(`the API version in the data (${apiVersion}) does not match the expected API version (${expectedVersion})`);
  const opening = `${gvk.kind} in version ${goQuote(gvk.version)} cannot be handled as a ${expected.kind}`;
  try {
    if (schema !== undefined) readAs?.(schema);
  } catch (error) {
    if (error instanceof DecodeError) throw badRequestError(`${opening}: ${error.message}`);
    throw error;
  }
  throw badRequestError(`${opening}: converting (${gvk.version}.${gvk.kind}) to (${expectedPackage(expected.group)}.${expected.kind}): unknown conversion`);
}

/** Kinds that Kubernetes knows without serving them. */
const registeredBesides = new Set([
  "v1/List",
  "apps/v1beta1/Scale",
  "apps/v1beta2/Scale",
  "extensions/v1beta1/Scale",
  "apiextensions.k8s.io/v1beta1/CustomResourceDefinition",
  "authentication.k8s.io/v1beta1/SelfSubjectReview",
]);

/** Go's package of a group's internal types. */
function expectedPackage(group: string): string {
  return group === "" ? "core" : group.split(".")[0]!;
}

/** Unknown and duplicate fields: refused, reported as warnings, or passed over. */
export function reportFaults(
  context: RequestContext,
  faults: readonly string[],
  fieldValidation: WriteOptions["fieldValidation"],
  expected: Pick<ExpectedType, "kind" | "version">,
): void {
  if (faults.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Strict")
    throw badRequestError(
      `${expected.kind} in version ${goQuote(expected.version)} cannot be handled as a ${expected.kind}: strict decoding error: ${faults.join(", ")}`,
    );
  for (const warning of faultWarnings(faults)) context.warnings.add(warning);
}

function decodeProtobufBody(body: Uint8Array, expected: ExpectedType): KubeObject {
  if (body.length === 0) throw badRequestError(`the object provided is unrecognized (must be of type ${expected.kind}): empty data (<empty>)`);
  let decoded;
  try {
    decoded = decodeProtobuf(body, typeRegistry);
  } catch (error) {
    throw badRequestError(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${error instanceof Error ? error.message : String(error)} (${snippet(body)})`,
    );
  }
  checkType({ apiVersion: decoded.apiVersion, kind: decoded.kind }, expected);
  return typed(decoded.object as unknown as KubeObject, expected);
}
