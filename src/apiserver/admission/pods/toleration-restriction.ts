/** PodTolerationRestriction: default and allowed tolerations by namespace, in its annotations or the plugin's configuration. */
import type { Pod, Toleration } from "../../../api/core-v1/types.ts";
import { qosClassOf } from "../../../api/core-v1/pod/qos.ts";
import { StatusError, notFoundError } from "../../../apimachinery/status.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { coversAll, mergeTolerations } from "./tolerations.ts";

const prefix = "scheduler.alpha.kubernetes.io/";
const memoryPressure: Toleration = { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" };

interface Configuration {
  readonly default?: readonly Toleration[];
  readonly whitelist?: readonly Toleration[];
}

export function podTolerationRestriction(configuration: Configuration = {}): AdmissionPlugin {
  return {
    name: "PodTolerationRestriction",
    operations: new Set(["CREATE", "UPDATE"]),
    resources: new Set(["/pods"]),
    mutate(request) {
      if (request.subresource !== "") return;
      const spec = ((request.object as unknown as Pod).spec ??= {});
      let tolerations = spec.tolerations ?? [];
      if (request.operation === "CREATE") {
        const defaults = listOf(request, "defaultTolerations") ?? configuration.default ?? [];
        tolerations = mergeTolerations(tolerations, defaults);
      }
      if (qosClassOf(spec) !== "BestEffort") tolerations = mergeTolerations(tolerations, [memoryPressure]);
      if (tolerations.length > 0) spec.tolerations = tolerations;
      check(request, configuration);
    },
    validate(request) {
      if (request.subresource === "") check(request, configuration);
    },
  };
}

function check(request: AdmissionRequest, configuration: Configuration): void {
  const tolerations = (request.object as unknown as Pod).spec?.tolerations ?? [];
  if (tolerations.length === 0) return;
  const allowed = listOf(request, "tolerationsWhitelist") ?? configuration.whitelist ?? [];
  if (allowed.length > 0 && !coversAll(allowed, tolerations))
    throw internal("pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist");
}

/** The annotation's list; undefined when there is none. */
function listOf({ context, namespace }: AdmissionRequest, name: string): readonly Toleration[] | undefined {
  const found = findObject(context.server, "/namespaces", "", namespace);
  if (found === undefined) throw notFoundError({ group: "", resource: "namespaces" }, namespace);
  const text = found.metadata.annotations?.[prefix + name];
  if (text === undefined || text === "") return undefined;
  try {
    return JSON.parse(text) as Toleration[];
  } catch {
    throw internal("unexpected end of JSON input");
  }
}

/** These refusals have no reason: clients see a plain 500. */
function internal(message: string): StatusError {
  return new StatusError({ message, code: 500 });
}
