/**
 * The audit of one request: what is known of it so far, and the events of its stages. Stages and handlers note what they learn; each stage
 * is told once.
 */
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import { deepCopy, isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import type { Status } from "../../apimachinery/status.ts";
import { formatMicroTime } from "../../apimachinery/time.ts";
import type { RequestContext } from "../request-context.ts";
import type { AuditEvent, AuditStatus, AuditUser, ObjectReference } from "./event.ts";
import { annotateLatencies } from "./latencies.ts";
import type { AuditStage, AuditVerdict } from "./policy.ts";
import { withoutTokens } from "./redaction.ts";
import { sourceAddresses } from "./source-addresses.ts";

export class AuditRecord {
  readonly #context: RequestContext;
  readonly #verdict: AuditVerdict;
  readonly #user: UserInfo | undefined;
  readonly #receivedMs: number;
  #reference: ObjectReference | undefined;
  #requestObject: JsonValue | undefined;
  #responseObject: JsonValue | undefined;
  #responseStatus: AuditStatus | undefined;
  #impersonated: { readonly user: UserInfo; readonly constraint: string | undefined } | undefined;

  /** `user` is who sent the request; undefined when nobody knows. */
  constructor(context: RequestContext, verdict: AuditVerdict, user: UserInfo | undefined) {
    this.#context = context;
    this.#verdict = verdict;
    this.#user = user;
    this.#receivedMs = context.server.clock.nowMs();
    this.#reference = context.info.isResourceRequest ? referenceOf(context) : undefined;
  }

  /** Whether the answer's object is wanted. */
  get wantsResponse(): boolean {
    return this.#verdict.level === "RequestResponse";
  }

  /** Whether a stage is told. */
  tells(stage: AuditStage): boolean {
    return !this.#verdict.omitStages.has(stage);
  }

  impersonates(user: UserInfo, constraint: string | undefined): void {
    this.#impersonated = { user, constraint };
  }

  /** The object of the body, with its defaults. What it says of itself completes the reference. */
  noteRequest(object: KubeObject, { schema }: { readonly schema: StructSchema }): void {
    const { name = "", namespace = "", uid = "", resourceVersion = "" } = object.metadata ?? {};
    const known = this.#reference ?? {};
    this.#reference = {
      ...known,
      ...(known.namespace === undefined && namespace !== "" && { namespace }),
      ...(known.name === undefined && name !== "" && { name }),
      ...(known.uid === undefined && uid !== "" && { uid }),
      ...(resourceVersion !== "" && { resourceVersion }),
    };
    if (this.#wantsRequest) this.#requestObject = this.#shown(canonicalize(deepCopy(object) as unknown as JsonObject, schema));
  }

  /** A body that is no object of the resource: a patch, options. */
  noteRequestBody(value: JsonValue): void {
    if (this.#wantsRequest) this.#requestObject = this.#shown(value);
  }

  noteStatus(code: number, status?: Status): void {
    const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = status ?? {};
    this.#responseStatus = { metadata: {}, ...rest, code };
  }

  noteResponse(value: JsonValue): void {
    if (this.wantsResponse) this.#responseObject = this.#shown(value);
  }

  /** The event of a stage, from all that is known now. */
  event(stage: AuditStage): AuditEvent {
    const nowMs = this.#context.server.clock.nowMs();
    if (stage === "ResponseComplete") annotateLatencies(this.#context, nowMs - this.#receivedMs);
    const { auditId, request, info, auditAnnotations } = this.#context;
    const agent = request.headers["user-agent"] ?? "";
    const sources = sourceAddresses(request);
    const constraint = this.#impersonated?.constraint;
    return {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: this.#verdict.level,
      auditID: auditId,
      stage,
      requestURI: `${request.path}${request.query === "" ? "" : `?${request.query}`}`,
      verb: info.verb,
      user: this.#user === undefined ? {} : userOf(this.#user),
      ...(this.#impersonated !== undefined && { impersonatedUser: userOf(this.#impersonated.user) }),
      ...(constraint !== undefined && { authenticationMetadata: { impersonationConstraint: constraint } }),
      ...(sources.length > 0 && { sourceIPs: sources }),
      ...(agent !== "" && { userAgent: agent }),
      ...(this.#reference !== undefined && { objectRef: inOrder(this.#reference) }),
      ...(this.#responseStatus !== undefined && { responseStatus: this.#responseStatus }),
      ...(this.#requestObject !== undefined && { requestObject: this.#requestObject }),
      ...(this.#responseObject !== undefined && { responseObject: this.#responseObject }),
      requestReceivedTimestamp: formatMicroTime(this.#receivedMs),
      stageTimestamp: formatMicroTime(nowMs),
      ...(auditAnnotations !== undefined &&
        auditAnnotations.size > 0 && { annotations: Object.fromEntries([...auditAnnotations].sort(([a], [b]) => (a < b ? -1 : 1))) }),
    };
  }

  get #wantsRequest(): boolean {
    return this.#verdict.level === "Request" || this.#verdict.level === "RequestResponse";
  }

  #shown(value: JsonValue): JsonValue {
    const redacted = withoutTokens(value);
    return this.#verdict.omitsManagedFields ? withoutManagedFields(redacted) : redacted;
  }
}

function referenceOf({ info }: RequestContext): ObjectReference {
  const { resource, namespace, name, group, version, subresource } = info;
  return {
    ...(resource !== "" && { resource }),
    ...(namespace !== "" && { namespace }),
    ...(name !== "" && { name }),
    ...(group !== "" && { apiGroup: group }),
    ...(version !== "" && { apiVersion: version }),
    ...(subresource !== "" && { subresource }),
  };
}

const referenceMembers = ["resource", "namespace", "name", "uid", "apiGroup", "apiVersion", "resourceVersion", "subresource"] as const;

function inOrder(reference: ObjectReference): ObjectReference {
  return Object.fromEntries(referenceMembers.flatMap((member) => (reference[member] === undefined ? [] : [[member, reference[member]]])));
}

function userOf({ username, uid, groups, extra }: UserInfo): AuditUser {
  return {
    username,
    ...(uid !== undefined && uid !== "" && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra !== undefined && Object.keys(extra).length > 0 && { extra }),
  };
}

/** Of an object, or of each item of a list. */
function withoutManagedFields(value: JsonValue): JsonValue {
  if (!isObject(value)) return value;
  const { metadata, items } = value;
  const result = { ...value };
  if (isObject(metadata) && metadata["managedFields"] !== undefined) {
    const { managedFields: _managed, ...rest } = metadata;
    result["metadata"] = rest;
  }
  if (Array.isArray(items)) result["items"] = items.map(withoutManagedFields);
  return result;
}
