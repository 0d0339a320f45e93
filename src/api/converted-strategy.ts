/**
 * The strategy of a kind in a version that it is served but not stored in: each rule sees the stored version's form of the object, and
 * what it changes there is carried back.
 */
import type { KubeObject, GroupVersionKind } from "../apimachinery/object.ts";
import type { VersionConversion } from "./conversions.ts";
import type { KindStrategy, UpdateRules } from "./strategy.ts";

export function convertedStrategy(gvk: GroupVersionKind, stored: KindStrategy, conversion: VersionConversion): KindStrategy {
  const { toStored } = conversion;
  const change = (object: KubeObject, rule: (converted: KubeObject) => void) => {
    const converted = toStored(object);
    rule(converted);
    assume(object, conversion.fromStored(converted));
  };
  const updateRules = (rules: UpdateRules<KubeObject>): UpdateRules<KubeObject> => ({
    ...rules,
    ...(rules.prepare && { prepare: (object, old, context) => change(object, (converted) => rules.prepare!(converted, toStored(old), context)) }),
    ...(rules.validate && { validate: (object, old, context) => rules.validate!(toStored(object), toStored(old), context) }),
    ...(rules.warnings && { warnings: (object, old, context) => rules.warnings!(toStored(object), toStored(old), context) }),
  });
  const { create, generation, selectableFields } = stored;
  return {
    ...stored,
    gvk,
    generation: typeof generation === "function" ? (object: KubeObject, old: KubeObject) => generation(toStored(object), toStored(old)) : generation,
    defaults: (object: KubeObject, nowMs) => change(object, (converted) => stored.defaults?.(converted, nowMs)),
    create: {
      ...(create.prepare && { prepare: (object, context) => change(object, (converted) => create.prepare!(converted, context)) }),
      ...(create.validate && { validate: (object, context) => create.validate!(toStored(object), context) }),
      ...(create.warnings && { warnings: (object, context) => create.warnings!(toStored(object), context) }),
    },
    update: { ...stored.update, ...updateRules(stored.update) },
    ...(stored.status && { status: updateRules(stored.status) }),
    ...(selectableFields && { selectableFields: (object: KubeObject) => selectableFields(toStored(object)) }),
  };
}

/** Makes `object` hold what `other` holds. It and its metadata stay the objects they are, since callers hold on to them. */
function assume(object: KubeObject, other: KubeObject): void {
  const { metadata } = object;
  replaceMembers(metadata as Record<string, unknown>, other.metadata as Record<string, unknown>);
  replaceMembers(object, { ...other, metadata });
}

function replaceMembers(target: Record<string, unknown>, source: Record<string, unknown>): void {
  for (const name of Object.keys(target)) if (!Object.hasOwn(source, name)) delete target[name];
  Object.assign(target, source);
}
