/** PodNodeSelector: pods of a namespace run on the nodes that its annotation, or the plugin's configuration, names. */
import type { Pod } from "../../../api/core-v1/types.ts";
import { StatusError, notFoundError } from "../../../apimachinery/status.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";

type Labels = Readonly<Record<string, string>>;

/** Key of the configuration for namespaces without one of their own. */
const defaultKey = "clusterDefaultNodeSelector";
const annotationNames = ["scheduler.alpha.kubernetes.io/node-selector"];

export function podNodeSelector(configuration: { readonly podNodeSelectorPluginConfig?: Labels } = {}): AdmissionPlugin {
  const configured = configuration.podNodeSelectorPluginConfig ?? {};
  return {
    name: "PodNodeSelector",
    operations: new Set(["CREATE"]),
    resources: new Set(["/pods"]),
    mutate(request) {
      if (request.subresource !== "") return;
      const wanted = selectorOf(request, configured);
      const spec = ((request.object as unknown as Pod).spec ??= {});
      if (conflicts(wanted, spec.nodeSelector ?? {})) throw refuse(request, "pod node label selector conflicts with its namespace node label selector");
      const merged = { ...spec.nodeSelector, ...wanted };
      if (Object.keys(merged).length > 0) spec.nodeSelector = merged;
      check(request, configured);
    },
    validate(request) {
      if (request.subresource === "") check(request, configured);
    },
  };
}

function check(request: AdmissionRequest, configured: Labels): void {
  const own = (request.object as unknown as Pod).spec?.nodeSelector ?? {};
  if (conflicts(selectorOf(request, configured), own)) throw refuse(request, "pod node label selector conflicts with its namespace node label selector");
  const allowed = configured[request.namespace] ?? "";
  if (allowed === "") return;
  const list = parse(allowed);
  if (Object.entries(own).some(([key, value]) => list[key] !== value))
    throw refuse(request, "pod node label selector labels conflict with its namespace whitelist");
}

/** What the namespace's annotation says, else the configuration's default. */
function selectorOf({ context, namespace }: AdmissionRequest, configured: Labels): Labels {
  const found = findObject(context.server, "/namespaces", "", namespace);
  if (found === undefined) throw notFoundError({ group: "", resource: "namespaces" }, namespace);
  for (const name of annotationNames) {
    const text = found.metadata.annotations?.[name];
    if (text !== undefined) return parse(text);
  }
  return parse(configured[defaultKey] ?? "");
}

function conflicts(one: Labels, other: Labels): boolean {
  return Object.entries(one).some(([key, value]) => other[key] !== undefined && other[key] !== value);
}

/** `a=b,c=d`. Anything else is an internal fault, as upstream tells it. */
function parse(text: string): Labels {
  const labels: Record<string, string> = {};
  if (text === "") return labels;
  for (const part of text.split(",")) {
    const pair = part.split("=");
    if (pair.length !== 2) throw new StatusError({ message: `invalid selector: [${part}]`, code: 500 });
    labels[pair[0]!.trim()] = pair[1]!.trim();
  }
  return labels;
}
