/**
 * Rules of events. Both faces share them, and faults name the fields as core/v1 does, but for the controller that reports.
 * An event without `eventTime` is of the old sort, of which little is asked.
 */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { byteLength, isQualifiedName } from "../../apimachinery/names.ts";
import { instantMs } from "../cells.ts";
import type { Event as CoreEvent } from "../core-v1/types.ts";
import { internalForm } from "../meta/internal-form.ts";
import { immutable, isSame } from "../update-rules.ts";

/** What every event must satisfy; all that is asked of those made through core/v1. */
export function validateCoreEvent(event: CoreEvent, controllerField: "reportingComponent" | "reportingController" = "reportingComponent"): FieldError[] {
  const namespace = event.metadata.namespace ?? "";
  const about = event.involvedObject?.namespace ?? "";
  const isOld = instantMs(event.eventTime) === undefined;
  const mismatch = [invalid(FieldPath.root("involvedObject", "namespace"), about, "does not match event.namespace")];
  if (isOld) {
    const isMatching = about === "" ? namespace === "" || namespace === "default" : about === namespace;
    return isMatching ? [] : mismatch;
  }
  const { reportingComponent: controller = "", reportingInstance = "", action = "", reason = "", message = "" } = event;
  const controllerPath = FieldPath.root(controllerField);
  return [
    ...(about === "" && !clusterNamespaces.includes(namespace) ? mismatch : []),
    ...(controller === "" ? [required(controllerPath)] : []),
    ...invalidEach(controllerPath, controller, isQualifiedName(controller)),
    ...validateText("reportingInstance", reportingInstance),
    ...validateText("action", action),
    ...validateText("reason", reason),
    ...(byteLength(message) > maxMessageBytes ? [tooLong("message", maxMessageBytes)] : []),
  ];
}

/** Of an event made through events.k8s.io more is asked: it has a time, a type, and no deprecated fields. */
export function validateNewEvent(event: CoreEvent): FieldError[] {
  const { type = "", firstTimestamp, lastTimestamp, count = 0, source, series } = event;
  const errors = validateCoreEvent(event, "reportingController");
  if (series !== undefined) errors.push(...validateSeries(series));
  if (instantMs(event.eventTime) === undefined) errors.push(required(FieldPath.root("eventTime")));
  if (!eventTypes.includes(type)) errors.push(invalid(FieldPath.root("type"), "", `has invalid value: ${type}`));
  const unset = (name: string, isSet: boolean) => (isSet ? [invalid(FieldPath.root(name), "", "needs to be unset")] : []);
  return [
    ...errors,
    ...unset("firstTimestamp", instantMs(firstTimestamp) !== undefined),
    ...unset("lastTimestamp", instantMs(lastTimestamp) !== undefined),
    ...unset("count", count !== 0),
    ...unset("source", (source?.component ?? "") !== "" || (source?.host ?? "") !== ""),
  ];
}

/** Through events.k8s.io only the series of an event changes. */
export function validateNewEventUpdate(event: CoreEvent, old: CoreEvent): FieldError[] {
  const reference = (value: CoreEvent["involvedObject"] | undefined) => (value === undefined ? null : internalForm("api.core.v1.ObjectReference", value));
  const fixed = (["reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime", "action"] as const).flatMap((name) =>
    fixedText(name, event[name], old[name]),
  );
  return [
    ...validateCoreEvent(event, "reportingController"),
    ...(event.series === undefined || isSame(event.series, old.series) ? [] : validateSeries(event.series)),
    ...immutable(FieldPath.root("involvedObject"), reference(event.involvedObject), reference(old.involvedObject)),
    ...fixed,
    ...immutable(FieldPath.root("related"), reference(event.related), reference(old.related)),
    ...fixedText("reportingController", event.reportingComponent, old.reportingComponent),
    ...fixedText("reportingInstance", event.reportingInstance, old.reportingInstance),
  ];
}

const maxTextBytes = 128;
const maxMessageBytes = 1024;
const eventTypes = ["Normal", "Warning"];
/** Namespaces that hold events about objects without one. */
const clusterNamespaces = ["default", "kube-system"];

/** Empty and absent are the same. */
function fixedText(name: string, value: unknown, old: unknown): FieldError[] {
  return immutable(FieldPath.root(name), value || null, old || null, value ?? "");
}

function validateText(name: string, text: string): FieldError[] {
  if (text === "") return [required(FieldPath.root(name))];
  return byteLength(text) > maxTextBytes ? [tooLong(name, maxTextBytes)] : [];
}

function tooLong(name: string, maxBytes: number): FieldError {
  return invalid(FieldPath.root(name), "", `can have at most ${maxBytes} characters`);
}

function validateSeries({ count = 0, lastObservedTime }: NonNullable<CoreEvent["series"]>): FieldError[] {
  const path = FieldPath.root("series");
  return [
    ...(count < 2 ? [invalid(path.child("count"), "", "should be at least 2")] : []),
    ...(instantMs(lastObservedTime) === undefined ? [required(path.child("lastObservedTime"))] : []),
  ];
}
