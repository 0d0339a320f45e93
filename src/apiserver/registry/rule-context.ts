/** The RuleContext of a request: what strategies may know. */
import { newUid } from "../../base/ids.ts";
import type { RuleContext } from "../../api/strategy.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { schemaRuleErrors } from "../customresources/rules/schema-rule-checks.ts";
import { schemaDefaultErrors } from "../customresources/default-checks.ts";
import { expressionErrors } from "../admission/policies/expression-check.ts";
import type { RequestContext } from "../request-context.ts";

export function ruleContext(context: RequestContext, namespace: string, subresource: string, isDryRun: boolean): RuleContext {
  const { server } = context;
  return {
    nowMs: server.clock.nowMs(),
    user: context.user,
    namespace,
    subresource,
    isDryRun,
    settings: server.settings,
    isEnabled: (gate) => server.isEnabled(gate),
    warn: (text) => context.warnings.add(text),
    checkExpression: expressionErrors,
    checkSchemaRules: schemaRuleErrors,
    checkSchemaDefaults: schemaDefaultErrors,
    newUid: () => newUid(server.random),
    find: (resource, inNamespace, name) => findObject(context.server, resource, inNamespace, name),
    findAll: (resource, inNamespace) => findObjects(context.server, resource, inNamespace),
  };
}

type Server = RequestContext["server"];

/** The cached object of `group/resource`, or undefined. */
export function findObject(server: Server, resource: string, namespace: string, name: string): KubeObject | undefined {
  const definition = definitionOf(server, resource);
  const cache = definition?.storage?.cache;
  const stored = cache?.get(definition!.isNamespaced ? `${namespace}/${name}` : name);
  return stored === undefined ? undefined : cache!.parse(stored);
}

export function findObjects(server: Server, resource: string, namespace: string): KubeObject[] {
  const definition = definitionOf(server, resource);
  const cache = definition?.storage?.cache;
  if (cache === undefined) return [];
  const prefix = namespace === "" ? "" : `${namespace}/`;
  return [...cache.state.prefixed(prefix)].map(([, stored]) => cache.parse(stored));
}

function definitionOf(server: Server, resource: string) {
  const slash = resource.lastIndexOf("/");
  return server.resources.preferred(resource.slice(0, slash), resource.slice(slash + 1));
}
