/** In which version each kind is stored, and how the others are made of it. */
import groupOrder from "../../../api/data/group-order.json" with { type: "json" };
import { conversions, renaming } from "../../../api/conversions.ts";
import type { VersionConversion } from "../../../api/conversions.ts";
import { apiVersionOf } from "../../../apimachinery/object.ts";
import type { GroupVersionKind } from "../../../apimachinery/object.ts";
import { allGroups } from "./served-versions.ts";

/** Kinds that are stored in another group. */
const storedElsewhere: Readonly<Record<string, GroupVersionKind>> = {
  "events.k8s.io/Event": { group: "", version: "v1", kind: "Event" },
};

const versionOrder = groupOrder.versions as Readonly<Record<string, readonly string[]>>;

/** The first version of its group that has the kind, whether it is served or not: what is stored does not hang on flags. */
export function storedKind(group: string, kind: string): GroupVersionKind {
  const elsewhere = storedElsewhere[`${group}/${kind}`];
  if (elsewhere !== undefined) return elsewhere;
  const versions = allGroups.filter((one) => one.group === group).flatMap((one) => one.versions);
  const version = versionOrder[group]?.find((name) => versions.some((one) => one.version === name && one.resources.some((resource) => resource.kind === kind)));
  if (version === undefined) throw new Error(`no version of ${group} has ${kind}`);
  return { group, version, kind };
}

/** Between a version and the stored one; undefined when they are the same. */
export function conversionOf(group: string, version: string, kind: string): VersionConversion | undefined {
  const stored = storedKind(group, kind);
  if (stored.group === group && stored.version === version) return undefined;
  return conversions.get(`${group}/${version}/${kind}`) ?? renaming(apiVersionOf(group, version), apiVersionOf(stored.group, stored.version));
}
