import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, pathSegmentName } from "../../apimachinery/names.ts";
import { validateCanonicalIp } from "../../apimachinery/net.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { validateSegment } from "../meta/segment.ts";
import { defineKind } from "../strategy.ts";
import type { IPAddress } from "./types.ts";

export const ipAddresses = defineKind<IPAddress>({
  gvk: { group: "networking.k8s.io", version: "v1", kind: "IPAddress" },
  nameRule: addressNameFaults,
  generation: "none",
  create: { validate: validateAddress },
  update: {
    validate: (address, old) => [
      ...validateAddress(address),
      ...(isSemanticallyEqual("api.networking.v1.ParentReference", address.spec?.parentRef, old.spec?.parentRef)
        ? []
        : [invalid(FieldPath.root("spec", "parentRef"), null, "field is immutable")]),
    ],
  },
});

/** The name is the address, in its canonical form. */
function addressNameFaults(name: string): string[] {
  const opening = `Invalid value: ${JSON.stringify(name)}: `;
  return validateCanonicalIp(name, FieldPath.root("metadata", "name")).map(({ message }) => message.slice(opening.length));
}

function validateAddress({ spec }: IPAddress): FieldError[] {
  const path = FieldPath.root("spec", "parentRef");
  const parent = spec?.parentRef;
  if (parent === undefined) return [required(path)];
  const { group = "", namespace = "" } = parent;
  return [
    ...(group === "" ? [] : invalidEach(path.child("group"), group, isDns1123Subdomain(group))),
    ...validateSegment(parent.resource, path.child("resource")),
    ...validateSegment(parent.name, path.child("name")),
    ...invalidEach(path.child("namespace"), namespace, pathSegmentName(namespace)),
  ];
}
