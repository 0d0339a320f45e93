import type { FieldError } from "../../apimachinery/field-error.ts";
import { invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1123Subdomain, subdomainName } from "../../apimachinery/names.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers, restoreMetadata } from "../update-rules.ts";
import { fixedFlowSchemas } from "./fixed-specs.ts";
import { validateRules } from "./flowschema-rules.ts";
import type { FlowSchema, FlowSchemaSpec } from "./types.ts";

export const flowSchemas = defineKind<FlowSchema>({
  gvk: { group: "flowcontrol.apiserver.k8s.io", version: "v1", kind: "FlowSchema" },
  nameRule: subdomainName,
  generation: "spec",
  defaults({ spec }) {
    if (spec !== undefined) spec.matchingPrecedence ||= defaultPrecedence;
  },
  create: {
    prepare(schema) {
      delete schema.status;
    },
    validate: validateSchema,
  },
  update: {
    prepare: (schema, old) => restoreMembers(schema, old, "status"),
    validate: validateSchema,
    resetFields: ["status"],
  },
  status: {
    prepare(schema, old) {
      restoreMembers(schema, old, "spec");
      restoreMetadata(schema, old);
    },
    resetFields: ["metadata", "spec"],
  },
});

const defaultPrecedence = 1000;
const maxPrecedence = 10_000;
const distinguishers = ["ByNamespace", "ByUser"];
const specType = "api.flowcontrol.v1.FlowSchemaSpec";

function validateSchema({ metadata, spec }: FlowSchema): FieldError[] {
  const path = FieldPath.root("spec");
  const name = metadata.name ?? "";
  const errors = validateSpec(spec ?? { priorityLevelConfiguration: { name: "" } }, name, path);
  const fixed = fixedFlowSchemas.get(name);
  if (fixed !== undefined && !isSemanticallyEqual(specType, spec, fixed))
    errors.push(invalid(path, internalForm(specType, spec), `spec of '${name}' must equal the fixed value`));
  return errors;
}

function validateSpec(spec: FlowSchemaSpec, name: string, path: FieldPath): FieldError[] {
  const { matchingPrecedence: precedence = defaultPrecedence, distinguisherMethod, rules = [] } = spec;
  const level = spec.priorityLevelConfiguration?.name ?? "";
  const faults: string[] = [];
  if (precedence <= 0) faults.push("must be a positive value");
  if (precedence > maxPrecedence) faults.push(`must not be greater than ${maxPrecedence}`);
  if (precedence === 1 && name !== "exempt") faults.push("only the schema named 'exempt' may have matchingPrecedence 1");
  const errors = invalidEach(path.child("matchingPrecedence"), precedence, faults);
  if (distinguisherMethod !== undefined && !distinguishers.includes(distinguisherMethod.type)) {
    errors.push(notSupported(path.child("distinguisherMethod", "type"), { Type: distinguisherMethod.type ?? "" }, distinguishers));
  }
  const levelPath = path.child("priorityLevelConfiguration", "name");
  errors.push(...(level === "" ? [required(levelPath, "must reference a priority level")] : invalidEach(levelPath, level, isDns1123Subdomain(level))));
  return [...errors, ...rules.flatMap((rule, index) => validateRules(rule, path.child("rules").index(index)))];
}
