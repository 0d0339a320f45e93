/** The webhooks of all configurations of one kind: configurations by name, webhooks as listed; each compiled once per generation. */
import type { MutatingWebhook } from "../../../api/admissionregistration-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { ServerState } from "../../server-state.ts";
import type { AdmissionRequest } from "../chain.ts";
import { CompiledObjects } from "../matching/compiled-objects.ts";
import { compileConditions } from "../matching/conditions.ts";
import type { Condition } from "../matching/conditions.ts";
import { matchedDefinition } from "../matching/rules.ts";
import { compileSelectors } from "../matching/selectors.ts";

export interface CompiledWebhook {
  readonly configurationName: string;
  readonly source: MutatingWebhook;
  readonly failsOpen: boolean;
  readonly timeoutMs: number;
  readonly conditions: readonly Condition[];
  /** The version that it is sent; undefined when the request is none of its. */
  match(request: AdmissionRequest): ResourceDefinition | undefined;
}

/** `resource`: as `group/resource`. */
export function webhookIndex(resource: string): (server: ServerState) => readonly CompiledWebhook[] {
  const known = new WeakMap<ServerState, { readonly objects: CompiledObjects<readonly CompiledWebhook[]>; webhooks: readonly CompiledWebhook[] }>();
  return (server) => {
    let index = known.get(server);
    if (index === undefined) known.set(server, (index = { objects: new CompiledObjects(resource, compileConfiguration), webhooks: [] }));
    if (index.objects.refresh(server)) index.webhooks = index.objects.entries.flatMap(({ compiled }) => compiled);
    return index.webhooks;
  };
}

function compileConfiguration(object: KubeObject): CompiledWebhook[] {
  const webhooks = (object["webhooks"] as MutatingWebhook[] | undefined) ?? [];
  return webhooks.map((source) => compileWebhook(object.metadata.name!, source));
}

function compileWebhook(configurationName: string, source: MutatingWebhook): CompiledWebhook {
  const { namespaceSelector, objectSelector, rules = [], matchPolicy, matchConditions = [] } = source;
  const isSelected = compileSelectors({ ...(namespaceSelector && { namespaceSelector }), ...(objectSelector && { objectSelector }) });
  let conditions: readonly Condition[] | undefined;
  return {
    configurationName,
    source,
    failsOpen: source.failurePolicy === "Ignore",
    timeoutMs: (source.timeoutSeconds ?? 10) * 1000,
    get conditions() {
      return (conditions ??= compileConditions(matchConditions, false));
    },
    match(request) {
      const definition = matchedDefinition(rules, request, matchPolicy);
      return definition !== undefined && isSelected(request) ? definition : undefined;
    },
  };
}
