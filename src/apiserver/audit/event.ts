/** Audit events (API type audit.k8s.io/v1 Event), and the forms in which they are written. */
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { goJson } from "../../apimachinery/json.ts";
import type { JsonValue } from "../../apimachinery/json.ts";
import type { Status } from "../../apimachinery/status.ts";
import type { AuditLevel, AuditStage } from "./policy.ts";

/** Members in the order in which they are written. */
export interface AuditEvent {
  readonly kind: "Event";
  readonly apiVersion: "audit.k8s.io/v1";
  readonly level: AuditLevel;
  readonly auditID: string;
  readonly stage: AuditStage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: AuditUser;
  readonly impersonatedUser?: AuditUser;
  readonly authenticationMetadata?: { readonly impersonationConstraint?: string };
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  readonly objectRef?: ObjectReference;
  readonly responseStatus?: AuditStatus;
  readonly requestObject?: JsonValue;
  readonly responseObject?: JsonValue;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface AuditUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ObjectReference {
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiGroup?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

/** A Status without its type. */
export type AuditStatus = Omit<Status, "kind" | "apiVersion" | "metadata" | "status"> & { readonly metadata: object; readonly status?: string };

/** One line of the log, without its end. */
export function eventLine(event: AuditEvent, format: "json" | "legacy"): string {
  return format === "json" ? goJson(event) : legacyLine(event);
}

function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus } = event;
  const list = (groups: readonly string[] | undefined) => groups?.map(goQuote).join(",");
  const fields = [
    `id=${goQuote(event.auditID)}`,
    `stage=${goQuote(event.stage)}`,
    `ip=${goQuote(event.sourceIPs?.[0] ?? "<unknown>")}`,
    `method=${goQuote(event.verb)}`,
    `user=${goQuote(user.username ?? "<none>")}`,
    `groups=${list(user.groups) ?? goQuote("<none>")}`,
    `as=${goQuote(impersonatedUser?.username ?? "<self>")}`,
    `asgroups=${list(impersonatedUser?.groups) ?? goQuote("<lookup>")}`,
    `user-agent=${goQuote(event.userAgent ?? "")}`,
    `namespace=${goQuote(objectRef?.namespace ?? "<none>")}`,
    `uri=${goQuote(event.requestURI)}`,
    `response=${goQuote(responseStatus?.code === undefined ? "<deferred>" : String(responseStatus.code))}`,
  ];
  return `${event.requestReceivedTimestamp} AUDIT: ${fields.join(" ")}`;
}

const truncated = "audit.k8s.io/truncated";

/** The event, without its objects when it is longer than `maxBytes`; undefined when even that is too long. */
export function truncateEvent(event: AuditEvent, maxBytes: number): AuditEvent | undefined {
  if (sizeOf(event) <= maxBytes) return event;
  const { requestObject: _request, responseObject: _response, ...rest } = event;
  const shorter = { ...rest, annotations: { ...event.annotations, [truncated]: "true" } };
  return sizeOf(shorter) <= maxBytes ? shorter : undefined;
}

/** Bytes of the event's JSON. */
export function sizeOf(event: AuditEvent): number {
  return Buffer.byteLength(goJson(event));
}
