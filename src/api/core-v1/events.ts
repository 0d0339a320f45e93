/** Events (API references "Event v1 core" and "Event v1 events.k8s.io"): one kind with two faces. */
import { invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isDns1123Subdomain, isQualifiedName, pathSegmentName } from "../../apimachinery/names.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { immutable } from "../update-rules.ts";
import type { Event } from "./types.ts";

export const events = defineKind<Event>({
  gvk: { group: "", version: "v1", kind: "Event" },
  nameRule: pathSegmentName,
  requiresQualifiedFinalizers: false,
  generation: "none",
  create: { validate: (event, context) => [...validateEvent(event, context), ...(isStrict(context) && event.eventTime ? validateNewStyle(event) : [])] },
  update: {
    allowsCreate: true,
    validate: (event, old, context) => [...validateEvent(event, context), ...(isStrict(context) && event.eventTime ? validateChange(event, old) : [])],
  },
  delete: { ignoresPropagation: true },
  selectableFields: ({ involvedObject = {}, reason = "", reportingComponent = "", source = {}, type = "" }) => ({
    "involvedObject.kind": involvedObject.kind ?? "",
    "involvedObject.namespace": involvedObject.namespace ?? "",
    "involvedObject.name": involvedObject.name ?? "",
    "involvedObject.uid": involvedObject.uid ?? "",
    "involvedObject.apiVersion": involvedObject.apiVersion ?? "",
    "involvedObject.resourceVersion": involvedObject.resourceVersion ?? "",
    "involvedObject.fieldPath": involvedObject.fieldPath ?? "",
    reason,
    reportingComponent,
    source: source.component || reportingComponent,
    type,
  }),
});

const at = (...names: string[]) => FieldPath.root(...names);

/** The newer face of events is checked more strictly. */
function isStrict(context: RuleContext): boolean {
  return context.requestGroup === "events.k8s.io";
}

/** Lengths of texts, in bytes. */
const limits = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

function validateEvent(event: Event, context: RuleContext): FieldError[] {
  const namespace = event.metadata.namespace ?? "";
  const about = event.involvedObject?.namespace ?? "";
  const errors: FieldError[] = [];
  const mismatch = invalid(at("involvedObject", "namespace"), about, "does not match event.namespace");
  if (!event.eventTime) {
    if (about === "" ? namespace !== "" && namespace !== "default" : namespace !== about) errors.push(mismatch);
  } else {
    if (about === "" && namespace !== "default" && namespace !== "kube-system") errors.push(mismatch);
    errors.push(...validateReporter(event, isStrict(context) ? "reportingController" : "reportingComponent"));
  }
  return [...errors, ...invalidEach(at("namespace"), namespace, isDns1123Subdomain(namespace))];
}

function validateReporter(event: Event, controllerField: string): FieldError[] {
  const { reportingComponent = "" } = event;
  const errors = reportingComponent === "" ? [required(at(controllerField))] : [];
  errors.push(...invalidEach(at(controllerField), reportingComponent, isQualifiedName(reportingComponent)));
  for (const field of ["reportingInstance", "action", "reason", "message"] as const) {
    const text = event[field] ?? "";
    if (text === "" && field !== "message") errors.push(required(at(field)));
    if (byteLength(text) > limits[field]) errors.push(invalid(at(field), "", `can have at most ${limits[field]} characters`));
  }
  return errors;
}

function validateNewStyle(event: Event): FieldError[] {
  const errors = invalidEach(at("metadata", "name"), event.metadata.name ?? "", isDns1123Subdomain(event.metadata.name ?? ""));
  errors.push(...validateSeries(event));
  if (event.type !== "Normal" && event.type !== "Warning") errors.push(invalid(at("type"), "", `has invalid value: ${event.type ?? ""}`));
  const unset = (field: string, isSet: boolean) => (isSet ? [invalid(at(field), "", "needs to be unset")] : []);
  return [
    ...errors,
    ...unset("firstTimestamp", Boolean(event.firstTimestamp)),
    ...unset("lastTimestamp", Boolean(event.lastTimestamp)),
    ...unset("count", (event.count ?? 0) !== 0),
    ...unset("source", Boolean(event.source?.component) || Boolean(event.source?.host)),
  ];
}

function validateSeries({ series }: Event): FieldError[] {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid(at("series", "count"), "", "should be at least 2")] : []),
    ...(series.lastObservedTime ? [] : [required(at("series", "lastObservedTime"))]),
  ];
}

const fixedFields = ["involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime", "action", "related", "reportingComponent", "reportingInstance"] as const;
/** How paths call fields that have another name in the newer face. */
const strictNames: Readonly<Record<string, string>> = { reportingComponent: "reportingController" };
const structs: Readonly<Record<string, string>> = { involvedObject: "api.core.v1.ObjectReference", related: "api.core.v1.ObjectReference", source: "api.core.v1.EventSource" };

/** Only the series of an event may change. */
function validateChange(event: Event, old: Event): FieldError[] {
  const errors = isSemanticallyEqual("api.core.v1.EventSeries", event.series, old.series) ? [] : validateSeries(event);
  for (const field of fixedFields) {
    const type = structs[field];
    errors.push(...immutable(at(strictNames[field] ?? field), event[field], old[field], type === undefined ? event[field] : internalForm(type, event[field])));
  }
  return errors;
}
