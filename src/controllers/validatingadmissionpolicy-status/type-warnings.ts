/** What the expressions of a policy get wrong about the types of the objects that it is about. */
import {
  admissionVariables,
  baseEnvironment,
  boolType,
  builtInType,
  compile,
  dynType,
  policyVariablesType,
  stringType,
  structuralType,
} from "../../apimachinery/cel/index.ts";
import type { CelType, Environment, StructuralSchema } from "../../apimachinery/cel/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { apiVersionOf, parseApiVersion } from "../../apimachinery/object.ts";
import type { GroupVersionKind } from "../../apimachinery/object.ts";
import type { ExpressionWarning, NamedRuleWithOperations, ValidatingAdmissionPolicySpec } from "../../api/admissionregistration-v1/types.ts";
import type { CustomResourceDefinition } from "../../api/apiextensions-v1/types.ts";
import { typeRegistry } from "../../api/registry.ts";
import { resources } from "../../client/index.ts";

type Spec = DeepReadonly<ValidatingAdmissionPolicySpec>;
type Definitions = readonly DeepReadonly<CustomResourceDefinition>[];

/** More kinds are not looked at. */
const maxKinds = 10;

/** One warning for each expression that does not fit some kind, in the order of the policy. */
export function typeWarnings(spec: Spec, definitions: Definitions): ExpressionWarning[] {
  const checks = kindsOf(spec, definitions).map(({ kind, type }) => ({
    name: `${kind.group}/${kind.version}, Kind=${kind.kind}`,
    environment: environmentOf(spec, type, definitions),
  }));
  const warnings: ExpressionWarning[] = [];
  const check = (fieldRef: string, expression: string, expected: CelType) => {
    const faults = checks.flatMap(({ name, environment }) => {
      const compilation = compile(environment, expression, expected);
      return "program" in compilation ? [] : [`${name}: ${compilation.errors}\n`];
    });
    if (faults.length > 0) warnings.push({ fieldRef, warning: faults.join("\n") });
  };
  (spec.validations ?? []).forEach(({ expression, messageExpression = "" }, index) => {
    check(`spec.validations[${index}].expression`, expression, boolType);
    if (messageExpression !== "") check(`spec.validations[${index}].messageExpression`, messageExpression, stringType);
  });
  return warnings;
}

function environmentOf({ paramKind, variables = [] }: Spec, object: CelType, definitions: Definitions): Environment {
  const params = paramKind && paramType(paramKind, definitions);
  const types: Record<string, CelType> = {};
  const environmentNow = () =>
    baseEnvironment.withVariables({
      ...admissionVariables({ hasParams: params !== undefined, variables: policyVariablesType({ ...types }) }),
      object,
      oldObject: object,
      ...(params && { params }),
    });
  for (const { name, expression } of variables) {
    const compilation = compile(environmentNow(), expression);
    types[name] = "program" in compilation ? compilation.program.type : dynType;
  }
  return environmentNow();
}

interface KnownKind {
  readonly kind: GroupVersionKind;
  readonly type: CelType;
}

/** The kinds that the policy's rules name; those with wildcards and those that nobody knows are left out. */
function kindsOf({ matchConstraints }: Spec, definitions: Definitions): KnownKind[] {
  const found = new Map<string, KnownKind>();
  for (const rule of matchConstraints?.resourceRules ?? []) {
    for (const known of kindsOfRule(rule, definitions)) found.set(`${known.kind.group}/${known.kind.version}/${known.kind.kind}`, known);
  }
  return [...found.values()].slice(0, maxKinds);
}

function kindsOfRule(
  { apiGroups = [], apiVersions = [], resources: names = [] }: DeepReadonly<NamedRuleWithOperations>,
  definitions: Definitions,
): KnownKind[] {
  const places = apiGroups.flatMap((group) => apiVersions.flatMap((version) => names.map((resource) => ({ group, version, resource }))));
  return places.flatMap((place) => {
    const kind = builtInKinds.get(`${place.group}/${place.version}/${place.resource}`) ?? customKind(place, definitions);
    const type = kind && typeOf(kind, definitions);
    return type === undefined ? [] : [{ kind: kind!, type }];
  });
}

const builtInKinds: ReadonlyMap<string, GroupVersionKind> = new Map(
  Object.values(resources).map(({ group, version, resource, kind }) => [`${group}/${version}/${resource}`, { group, version, kind }]),
);

function customKind(
  { group, version, resource }: { readonly group: string; readonly version: string; readonly resource: string },
  definitions: Definitions,
): GroupVersionKind | undefined {
  const definition = definitions.find(({ spec }) => spec.group === group && spec.names.plural === resource);
  return definition && { group, version, kind: definition.spec.names.kind };
}

function typeOf({ group, version, kind }: GroupVersionKind, definitions: Definitions): CelType | undefined {
  const builtIn = typeRegistry.kind(group, version, kind);
  if (builtIn !== undefined) return builtInType(builtIn).type;
  const definition = definitions.find(({ spec }) => spec.group === group && spec.names.kind === kind);
  const schema = definition?.spec.versions?.find(({ name }) => name === version)?.schema?.openAPIV3Schema;
  return schema && structuralType(schema as unknown as StructuralSchema, `${apiVersionOf(group, version)}.${kind}`, true)?.type;
}

function paramType({ apiVersion = "", kind = "" }: NonNullable<Spec["paramKind"]>, definitions: Definitions): CelType {
  const parsed = parseApiVersion(apiVersion);
  return (parsed && typeOf({ ...parsed, kind }, definitions)) ?? dynType;
}
