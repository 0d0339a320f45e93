/**
 * Which form an answer takes: the Accept header read as the API server reads it (documentation page "API concepts: Alternate
 * representations of resources"). Types are tried by quality, then in order; parameters pick a transformation.
 */
import { StatusError } from "../../apimachinery/status.ts";

export type MediaType = "application/json" | "application/yaml" | "application/vnd.kubernetes.protobuf" | "application/cbor";

/** Another shape of the same content. */
export interface Transform {
  readonly kind: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  readonly version: string;
}

export interface Negotiated {
  readonly mediaType: MediaType;
  readonly isPretty: boolean;
  readonly transform: Transform | undefined;
}

export interface Offer {
  /** Transformations that this endpoint can make. */
  readonly transforms: readonly Transform["kind"][];
  /** Go's type of what the endpoint shows, for the refusal of an object's form for a list and the other way round. */
  readonly goType?: string;
  /** Custom resources: only their metadata has a protobuf form. */
  readonly isCustom?: boolean;
  /** Media types; all but CBOR unless given. */
  readonly mediaTypes?: readonly MediaType[];
  /** What a refusal lists; the media types unless given. */
  readonly listed?: readonly string[];
  /** What the route of a built-in resource makes: it is asked first, knows no wildcard but the whole one, and refuses in its own words. */
  readonly produces?: readonly string[];
}

/** What is served unless CBOR's gate is on. */
export const allMediaTypes: readonly MediaType[] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const withCbor: readonly MediaType[] = [...allMediaTypes, "application/cbor"];

/** The media types of objects that a server knows. */
export function servedMediaTypes(server: { isEnabled(gate: string): boolean }): readonly MediaType[] {
  return server.isEnabled("CBORServingAndStorage") ? withCbor : allMediaTypes;
}

/** Picks the form of the answer, or throws the 406 that lists what is to be had. */
export function negotiate(accept: string | undefined, offer: Offer): Negotiated {
  const mediaTypes = offer.mediaTypes ?? allMediaTypes;
  if (accept === undefined || accept.trim() === "") return { mediaType: mediaTypes[0]!, isPretty: false, transform: undefined };
  if (offer.produces !== undefined && !isProduced(accept, offer.produces)) throw notAcceptable(offer.produces);
  for (const clause of parseAccept(accept)) {
    const mediaType = mediaTypeOf(clause.type, mediaTypes);
    if (mediaType === undefined) continue;
    const transform = readTransform(clause.parameters, offer);
    if (transform === "refused") continue;
    // A Table has no protobuf form: such a clause is passed over.
    if (transform?.kind === "Table" && mediaType === "application/vnd.kubernetes.protobuf") continue;
    if (transform === undefined && mediaType === "application/vnd.kubernetes.protobuf" && offer.isCustom === true) continue;
    return { mediaType, isPretty: clause.parameters.get("pretty") === "1", transform };
  }
  throw new StatusError({
    message: `only the following media types are accepted: ${(offer.listed ?? mediaTypes).join(", ")}`,
    reason: "NotAcceptable",
    code: 406,
  });
}

function isProduced(accept: string, produces: readonly string[]): boolean {
  return accept.split(",").some((clause) => {
    const type = clause.split(";")[0]!.trim();
    return type === "*/*" || produces.includes(type);
  });
}

function mediaTypeOf(asked: string, mediaTypes: readonly MediaType[]): MediaType | undefined {
  if (asked === "*/*") return mediaTypes[0]!;
  return asked.endsWith("/*") ? mediaTypes.find((type) => type.startsWith(asked.slice(0, -1))) : mediaTypes.find((type) => type === asked);
}

/** The 406 of a route. */
export function notAcceptable(mediaTypes: readonly string[] = allMediaTypes): StatusError {
  return new StatusError({
    message: `406: Not Acceptable\n\nAvailable representations: ${mediaTypes.join(", ")}`,
    reason: "NotAcceptable",
    details: {},
    code: 406,
  });
}

function wrongShape(as: string, goType: string): StatusError {
  if (as.endsWith("List") && goType.startsWith("unstructured.")) return new StatusError({ message: "content is not a list", code: 500 });
  return new StatusError({
    message: `you requested ${as}, but the requested object is ${as.endsWith("List") ? "not " : ""}a list (*${goType})`,
    reason: "NotAcceptable",
    code: 406,
  });
}

interface AcceptClause {
  readonly type: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Clauses by falling quality, equal ones in the order written. A quality of 0 counts as 1, as upstream reads it. */
function parseAccept(accept: string): AcceptClause[] {
  const clauses = accept.split(",").map((text): AcceptClause => {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    const parameters = new Map<string, string>();
    for (const parameter of rest) {
      const equals = parameter.indexOf("=");
      if (equals > 0) parameters.set(parameter.slice(0, equals).trim(), parameter.slice(equals + 1).trim());
    }
    const quality = Number(parameters.get("q") ?? 1);
    return { type, quality: Number.isFinite(quality) && quality > 0 ? quality : 1, parameters };
  });
  return clauses.sort((a, b) => b.quality - a.quality);
}

function readTransform(parameters: ReadonlyMap<string, string>, offer: Offer): Transform | undefined | "refused" {
  const as = parameters.get("as");
  if (as === undefined) return undefined;
  const version = parameters.get("v");
  const isKnown = parameters.get("g") === "meta.k8s.io" && (version === "v1" || version === "v1beta1");
  const kind = offer.transforms.find((name) => name === as);
  if (isKnown && kind === undefined && offer.goType !== undefined && as.startsWith("PartialObjectMetadata")) throw wrongShape(as, offer.goType);
  if (!isKnown || kind === undefined) return "refused";
  return { kind, version };
}
