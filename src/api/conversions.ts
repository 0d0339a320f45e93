/** Kinds served in another version than they are stored in: how objects pass between the two. */
import type { KubeObject } from "../apimachinery/object.ts";

export interface VersionConversion {
  fromStored(object: KubeObject): KubeObject;
  toStored(object: KubeObject): KubeObject;
}

/** By `group/version/Kind` of the served version. */
export const conversions: ReadonlyMap<string, VersionConversion> = new Map();
