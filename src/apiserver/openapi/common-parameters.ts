/** What all operations of a path have in common stands at the path; both are in the order of names. */
import type { ApiOperation } from "./operations.ts";
import type { Parameter } from "./parameters.ts";

export function commonParameters(operations: readonly ApiOperation[]): {
  readonly common: readonly Parameter[];
  readonly own: readonly (readonly Parameter[])[];
} {
  const [first, ...others] = operations;
  const common = (first?.parameters ?? [])
    .filter((parameter) => others.every((operation) => operation.parameters.some((other) => isSame(parameter, other))))
    .sort(byName);
  const own = operations.map((operation) => operation.parameters.filter((parameter) => !common.some((other) => isSame(parameter, other))).sort(byName));
  return { common, own };
}

const isSame = (a: Parameter, b: Parameter) => a.name === b.name && a.in === b.in && a.description === b.description;
const byName = (a: Parameter, b: Parameter) => (a.name < b.name || (a.name === b.name && a.in < b.in) ? -1 : 1);
