import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { internalForm, isSemanticallyEqual } from "../meta/internal-form.ts";
import { defineKind } from "../strategy.ts";
import { restoreMembers, restoreMetadata } from "../update-rules.ts";
import { fixedPriorityLevels } from "./fixed-specs.ts";
import type { LimitedPriorityLevelConfiguration, PriorityLevelConfiguration, PriorityLevelConfigurationSpec, QueuingConfiguration } from "./types.ts";

export const priorityLevelConfigurations = defineKind<PriorityLevelConfiguration>({
  gvk: { group: "flowcontrol.apiserver.k8s.io", version: "v1", kind: "PriorityLevelConfiguration" },
  nameRule: subdomainName,
  generation: "spec",
  defaults: defaultLevel,
  create: {
    prepare(level) {
      delete level.status;
    },
    validate: validateLevel,
  },
  update: {
    prepare: (level, old) => restoreMembers(level, old, "status"),
    validate: validateLevel,
    resetFields: ["status"],
  },
  status: {
    prepare(level, old) {
      restoreMembers(level, old, "spec");
      restoreMetadata(level, old);
    },
    resetFields: ["metadata", "spec"],
  },
});

function defaultLevel({ spec }: PriorityLevelConfiguration): void {
  if (spec?.exempt !== undefined) {
    spec.exempt.nominalConcurrencyShares ??= 0;
    spec.exempt.lendablePercent ??= 0;
  }
  if (spec?.limited === undefined) return;
  spec.limited.nominalConcurrencyShares ??= 30;
  spec.limited.lendablePercent ??= 0;
  const queuing = spec.limited.limitResponse?.queuing;
  if (queuing === undefined) return;
  queuing.queues ||= 64;
  queuing.handSize ||= 8;
  queuing.queueLengthLimit ||= 50;
}

const levelTypes = ["Exempt", "Limited"];
const responseTypes = ["Queue", "Reject"];
const maxQueues = 10_000_000;
/** Bits of the hash from which hands are dealt. */
const maxEntropyBits = 60;
const specType = "api.flowcontrol.v1.PriorityLevelConfigurationSpec";

function validateLevel({ metadata, spec = { type: "" } }: PriorityLevelConfiguration): FieldError[] {
  const path = FieldPath.root("spec");
  const name = metadata.name ?? "";
  const { type = "", limited, exempt } = spec;
  const errors: FieldError[] = [];
  if (type !== "" && (type === "Exempt") !== (name === "exempt"))
    errors.push(invalid(path.child("type"), type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  if (type !== "" && !levelTypes.includes(type)) errors.push(notSupported(path.child("type"), type, levelTypes));
  if (type === "Exempt" && exempt !== undefined) errors.push(...validateShares(exempt, path.child("exempt")));
  if (type === "Limited" && limited !== undefined) errors.push(...validateLimited(limited, path.child("limited")));
  errors.push(...validateFixed(spec, name, path));
  if (type !== "Exempt" && exempt !== undefined) errors.push(forbidden(path.child("exempt"), ""));
  if (type !== "Limited" && limited !== undefined) errors.push(forbidden(path.child("limited"), ""));
  if (type === "Limited" && limited === undefined) errors.push(required(path.child("limited")));
  if (type === "") errors.push(required(path.child("type")));
  return errors;
}

/** Of the level that exempts, the shares may change; of the one that catches all, nothing. */
function validateFixed(spec: PriorityLevelConfigurationSpec, name: string, path: FieldPath): FieldError[] {
  const fixed = fixedPriorityLevels.get(name);
  if (fixed === undefined) return [];
  const wanted = name === "exempt" && spec.exempt !== undefined ? { ...fixed, exempt: spec.exempt } : fixed;
  if (isSemanticallyEqual(specType, spec, wanted)) return [];
  const subject = name === "exempt" ? "spec of 'exempt' except the 'spec.exempt' field" : `spec of '${name}'`;
  return [invalid(path, internalForm(specType, spec), `${subject} must equal the fixed value`)];
}

function validateShares(
  { nominalConcurrencyShares: shares = 0, lendablePercent = 0 }: { nominalConcurrencyShares?: number; lendablePercent?: number },
  path: FieldPath,
): FieldError[] {
  const errors = shares < 0 ? [invalid(path.child("nominalConcurrencyShares"), shares, "must be a non-negative integer")] : [];
  if (lendablePercent < 0 || lendablePercent > 100)
    errors.push(invalid(path.child("lendablePercent"), lendablePercent, "must be between 0 and 100, inclusive"));
  return errors;
}

function validateLimited(limited: LimitedPriorityLevelConfiguration, path: FieldPath): FieldError[] {
  const { borrowingLimitPercent, limitResponse } = limited;
  const response = path.child("limitResponse");
  const { type = "", queuing } = limitResponse ?? {};
  const errors: FieldError[] = [];
  if (type !== "" && !responseTypes.includes(type)) errors.push(notSupported(response.child("type"), type, responseTypes));
  if (type === "Queue" && queuing !== undefined) errors.push(...validateQueuing(queuing, response.child("queuing")));
  errors.push(...validateShares(limited, path));
  if (borrowingLimitPercent !== undefined && borrowingLimitPercent < 0)
    errors.push(invalid(path.child("borrowingLimitPercent"), borrowingLimitPercent, "if specified, must be a non-negative integer"));
  if (type === "Queue" && queuing === undefined) errors.push(required(response.child("queuing")));
  if (type !== "Queue" && queuing !== undefined) errors.push(forbidden(response.child("queuing"), ""));
  if (type === "") errors.push(required(response.child("type")));
  return errors;
}

function validateQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration, path: FieldPath): FieldError[] {
  const positive = (value: number) => (value <= 0 ? ["must be positive"] : []);
  const tooMany = queues > maxQueues ? [`must not be greater than ${maxQueues}`] : [];
  const handFaults = positive(handSize);
  // A hand is dealt by a hash: so many bits does it take.
  const entropyBits = Math.ceil(Math.log2(queues) * handSize);
  if (handSize > queues) handFaults.push(`should not be greater than queues (${queues})`);
  else if (entropyBits > maxEntropyBits)
    handFaults.push(`required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxEntropyBits}`);
  return [
    ...invalidEach(path.child("queueLengthLimit"), queueLengthLimit, positive(queueLengthLimit)),
    ...invalidEach(path.child("queues"), queues, [...positive(queues), ...tooMany]),
    ...invalidEach(path.child("handSize"), handSize, handFaults),
  ];
}
