/**
 * Which form an answer takes: the Accept header read as the API server reads it (documentation page "API concepts: Alternate
 * representations of resources"). Types are tried by quality, then in order; parameters pick a transformation.
 */
import { StatusError } from "../../apimachinery/status.ts";

export type MediaType = "application/json" | "application/yaml" | "application/vnd.kubernetes.protobuf";

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
  /** Media types; all three unless given. */
  readonly mediaTypes?: readonly MediaType[];
}

const allMediaTypes: readonly MediaType[] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/** Picks the form of the answer, or throws the 406 that lists what is to be had. */
export function negotiate(accept: string | undefined, offer: Offer): Negotiated {
  const mediaTypes = offer.mediaTypes ?? allMediaTypes;
  if (accept === undefined || accept.trim() === "") return { mediaType: mediaTypes[0]!, isPretty: false, transform: undefined };
  for (const clause of parseAccept(accept)) {
    const mediaType = clause.type === "*/*" ? mediaTypes[0]! : mediaTypes.find((type) => type === clause.type);
    if (mediaType === undefined) continue;
    const transform = readTransform(clause.parameters, offer);
    if (transform === "refused") continue;
    // A Table has no protobuf form: such a clause is passed over.
    if (transform?.kind === "Table" && mediaType === "application/vnd.kubernetes.protobuf") continue;
    return { mediaType, isPretty: clause.parameters.get("pretty") === "1", transform };
  }
  throw notAcceptable(mediaTypes);
}

/** The 406 of an Accept header that nothing satisfies. */
export function notAcceptable(mediaTypes: readonly string[] = allMediaTypes): StatusError {
  return new StatusError({
    message: `406: Not Acceptable\n\nAvailable representations: ${mediaTypes.join(", ")}`,
    reason: "NotAcceptable",
    details: {},
    code: 406,
  });
}

function wrongShape(as: string, goType: string): StatusError {
  return new StatusError({ message: `you requested ${as}, but the requested object is ${as.endsWith("List") ? "not " : ""}a list (*${goType})`, reason: "NotAcceptable", code: 406 });
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
