/** Eviction and EvictionRequest: who wants a pod gone, and how it goes (KEP-4563). */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, subdomainName } from "../../apimachinery/names.ts";
import { validateConditions } from "../meta/conditions.ts";
import { validateUnion } from "../meta/union.ts";
import { isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import type { KindStrategy } from "../strategy.ts";
import { immutable, restoreMembers, restoreMetadata } from "../update-rules.ts";
import type { Eviction, EvictionRequest, EvictionRequestTarget } from "./types.ts";

const specPath = FieldPath.root("spec");

/** What both kinds have in common. */
function evictionKind<T extends Eviction | EvictionRequest>(kind: string, validate: (object: T) => FieldError[]): KindStrategy<T> {
  return defineKind<T>({
    gvk: { group: "lifecycle.k8s.io", version: "v1alpha1", kind },
    nameRule: subdomainName,
    generation: ({ spec }, old) => !isSemanticallyEqual(`api.lifecycle.v1alpha1.${kind}Spec`, spec, old.spec),
    create: {
      prepare(object) {
        delete object.status;
      },
      validate,
    },
    update: {
      prepare: (object, old) => restoreMembers(object, old, "status"),
      validate: (object, old) => [...validate(object), ...immutable(specPath.child("target"), object.spec?.target, old.spec?.target)],
      allowsUnconditional: false,
      resetFields: ["status"],
    },
    status: {
      prepare(object, old) {
        restoreMembers(object, old, "spec");
        restoreMetadata(object, old);
      },
      validate: ({ status }) => validateConditions(status?.conditions, FieldPath.root("status", "conditions")),
      resetFields: ["metadata", "spec"],
    },
  });
}

export const evictions = evictionKind<Eviction>("Eviction", ({ spec }) => validateTarget(spec?.target));

const intents = ["Eviction", "Withdrawn"];

export const evictionRequests = evictionKind<EvictionRequest>("EvictionRequest", ({ spec }) => {
  const { requester = "", intent = "" } = spec ?? {};
  return [
    ...validateTarget(spec?.target),
    ...(requester === "" ? [required(specPath.child("requester"))] : validateRequester(requester)),
    ...(intent === "" ? [required(specPath.child("intent"))] : intents.includes(intent) ? [] : [notSupported(specPath.child("intent"), intent, intents)]),
  ];
});

function validateTarget(target: EvictionRequestTarget | undefined): FieldError[] {
  const path = specPath.child("target");
  if (target?.pod === undefined) return validateUnion(target, ["pod"], path);
  const { name = "", uid = "" } = target.pod;
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uid);
  return [
    ...(name === "" ? [required(path.child("pod", "name"))] : invalidEach(path.child("pod", "name"), name, isDns1123Subdomain(name))),
    ...(uid === ""
      ? [required(path.child("pod", "uid"))]
      : isUuid
        ? []
        : [invalid(path.child("pod", "uid"), uid, "must be a lowercase UUID in 8-4-4-4-12 format")]),
  ];
}

/** A domain and a path. */
function validateRequester(requester: string): FieldError[] {
  const path = specPath.child("requester");
  const slash = requester.indexOf("/");
  if (slash < 0) return [invalid(path, requester, "must include a prefix (e.g. 'example.com/key')")];
  return invalidEach(path, requester, isDns1123Subdomain(requester.slice(0, slash)));
}
