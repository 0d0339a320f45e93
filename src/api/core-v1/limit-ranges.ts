/** LimitRanges (API reference "LimitRange v1 core"). */
import { duplicate, forbidden, invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isQualifiedName, subdomainName } from "../../apimachinery/names.ts";
import { compareQuantities, quantityMilli } from "../../apimachinery/quantity.ts";
import { defineKind } from "../strategy.ts";
import { isOvercommitAllowed, quantityText, roundResourceList, validateContainerResourceName, validateResourceName } from "./resource-names.ts";
import type { ResourceList } from "./resource-names.ts";
import type { LimitRange, LimitRangeItem } from "./types.ts";

export const limitRanges = defineKind<LimitRange>({
  gvk: { group: "", version: "v1", kind: "LimitRange" },
  nameRule: subdomainName,
  generation: "none",
  defaults: ({ spec = {} }) => (spec.limits ?? []).forEach(applyItemDefaults),
  create: {
    prepare: ({ metadata }, context) => {
      metadata.name ||= context.newUid();
    },
    validate: validateLimitRange,
  },
  update: { allowsCreate: true, validate: validateLimitRange },
});

const listFields = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;

/** Containers get what they may have at most, and at least what they must have. */
function applyItemDefaults(item: LimitRangeItem): void {
  for (const field of listFields) roundResourceList(item[field]);
  if (item.type !== "Container") return;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  if (Object.keys(limits).length > 0) item.default = limits;
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}

const standardTypes = ["Container", "PersistentVolumeClaim", "Pod"];

function validateLimitRange({ spec = {} }: LimitRange): FieldError[] {
  const types = new Set<string>();
  return (spec.limits ?? []).flatMap((item, index) => {
    const at = FieldPath.root("spec", "limits").index(index);
    const { type = "" } = item;
    const errors = invalidEach(at.child("type"), type, isQualifiedName(type));
    if (errors.length === 0 && !type.includes("/") && !standardTypes.includes(type))
      errors.push(invalid(at.child("type"), type, "must be a standard limit type or fully qualified"));
    if (types.has(type)) errors.push(duplicate(at.child("type"), type));
    types.add(type);
    return [...errors, ...validateNames(item, at), ...validateAmounts(item, at)];
  });
}

function validateNames(item: LimitRangeItem, at: FieldPath): FieldError[] {
  const { type, min, max } = item;
  const rule = type === "Pod" || type === "Container" ? validateContainerResourceName : validateResourceName;
  const names = (field: (typeof listFields)[number]) =>
    Object.keys(item[field] ?? {})
      .sort()
      .flatMap((name) => rule(name, at.child(field).key(name)));
  const errors = [...names("max"), ...names("min")];
  for (const field of ["default", "defaultRequest"] as const) {
    if (type !== "Pod") errors.push(...names(field));
    else if (Object.keys(item[field] ?? {}).length > 0) errors.push(forbidden(at.child(field), "may not be specified when `type` is 'Pod'"));
  }
  if (type === "PersistentVolumeClaim" && min?.storage === undefined && max?.storage === undefined) {
    errors.push(required(at.child("limits"), "either minimum or maximum storage value is required, but neither was provided"));
  }
  return [...errors, ...names("maxLimitRequestRatio")];
}

function validateAmounts(item: LimitRangeItem, at: FieldPath): FieldError[] {
  const isPod = item.type === "Pod";
  const names = new Set(listFields.flatMap((field) => Object.keys(item[field] ?? {})));
  return [...names].sort().flatMap((name) => {
    const amount = (list: ResourceList | undefined) => list?.[name];
    const of = (field: (typeof listFields)[number]) => at.child(field).key(name);
    const [min, max, ratio] = [amount(item.min), amount(item.max), amount(item.maxLimitRequestRatio)];
    const limit = isPod ? undefined : amount(item.default);
    const request = isPod ? undefined : amount(item.defaultRequest);
    const isMore = (left: string | number | undefined, right: string | number | undefined) =>
      left !== undefined && right !== undefined && compareQuantities(left, right) > 0;
    const [minText, maxText, limitText, requestText, ratioText] = [min, max, limit, request, ratio].map((value) => quantityText(value ?? 0)) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const errors: FieldError[] = [];
    if (isMore(min, max)) errors.push(invalid(of("min"), minText, `min value ${minText} is greater than max value ${maxText}`));
    if (isMore(min, request))
      errors.push(invalid(of("defaultRequest"), requestText, `min value ${minText} is greater than default request value ${requestText}`));
    if (isMore(request, max))
      errors.push(invalid(of("defaultRequest"), requestText, `default request value ${requestText} is greater than max value ${maxText}`));
    if (isMore(request, limit))
      errors.push(invalid(of("defaultRequest"), requestText, `default request value ${requestText} is greater than default limit value ${limitText}`));
    if (isMore(min, limit)) errors.push(invalid(of("default"), minText, `min value ${minText} is greater than default value ${limitText}`));
    if (isMore(limit, max)) errors.push(invalid(of("default"), maxText, `default value ${limitText} is greater than max value ${maxText}`));
    if (ratio !== undefined && compareQuantities(ratio, 1) < 0)
      errors.push(invalid(of("maxLimitRequestRatio"), ratioText, `ratio ${ratioText} is less than 1`));
    if (ratio !== undefined && min !== undefined && max !== undefined) {
      const most = quantityMilli(max) / quantityMilli(min);
      if (quantityMilli(ratio) / 1000 > most)
        errors.push(invalid(of("maxLimitRequestRatio"), ratioText, `ratio ${ratioText} is greater than max/min = ${most.toFixed(6)}`));
    }
    if (!isOvercommitAllowed(name) && limit !== undefined && request !== undefined && compareQuantities(limit, request) !== 0) {
      errors.push(invalid(of("defaultRequest"), requestText, `default value ${limitText} must equal to defaultRequest value ${requestText} in ${name}`));
    }
    return errors;
  });
}
