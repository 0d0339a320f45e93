/** Events (API reference "Event v1 core"). The other face of the kind, with rules of its own, is events.k8s.io/v1. */
import { pathSegmentName } from "../../apimachinery/names.ts";
import { validateCoreEvent } from "../events-v1/event-rules.ts";
import { defineKind } from "../strategy.ts";
import type { Event } from "./types.ts";

export const events = defineKind<Event>({
  gvk: { group: "", version: "v1", kind: "Event" },
  nameRule: pathSegmentName,
  requiresQualifiedFinalizers: false,
  generation: "none",
  create: { validate: (event) => validateCoreEvent(event) },
  update: { allowsCreate: true, validate: (event) => validateCoreEvent(event) },
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
