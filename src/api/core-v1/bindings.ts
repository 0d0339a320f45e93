/** Bindings of pods to nodes (API reference "Binding v1 core"). They are carried out, not stored. */
import { notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import type { Binding } from "./types.ts";

export const bindings = defineKind<Binding>({
  gvk: { group: "", version: "v1", kind: "Binding" },
  nameRule: subdomainName,
  generation: "none",
  create: { validate: validateBinding },
  update: {},
});

/** Faults of a binding; the server answers them with 500, as upstream does. */
export function validateBinding({ target }: Binding): FieldError[] {
  const { kind = "", name = "" } = target ?? {};
  const path = FieldPath.root("target");
  return [
    ...(kind !== "" && kind !== "Node" ? [notSupported(path.child("kind"), kind, ["Node", "<empty>"])] : []),
    ...(name === "" ? [required(path.child("name"))] : []),
  ];
}
