import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import { eventToCore } from "./conversion.ts";
import { validateNewEvent, validateNewEventUpdate } from "./event-rules.ts";
import type { Event } from "./types.ts";

/** The face of events in events.k8s.io; they are stored as core/v1. */
export const events = defineKind<Event>({
  gvk: { group: "events.k8s.io", version: "v1", kind: "Event" },
  nameRule: subdomainName,
  generation: "none",
  create: { validate: (event) => validateNewEvent(eventToCore(event)) },
  update: {
    validate: (event, old) => validateNewEventUpdate(eventToCore(event), eventToCore(old)),
    allowsCreate: true,
  },
  delete: { ignoresPropagation: true },
  selectableFields: ({ metadata, reason, reportingController, type, regarding }) => ({
    "metadata.name": metadata.name ?? "",
    "metadata.namespace": metadata.namespace ?? "",
    reason: reason ?? "",
    reportingController: reportingController ?? "",
    type: type ?? "",
    "regarding.kind": regarding?.kind ?? "",
    "regarding.name": regarding?.name ?? "",
    "regarding.namespace": regarding?.namespace ?? "",
  }),
});
