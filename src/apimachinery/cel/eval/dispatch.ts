/** Which overload a call runs. */
import type { Overload } from "../check/declarations.ts";
import { isSameType } from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import { CelError, isCelError, isOfType, typeNameOf } from "./values.ts";
import type { Value } from "./values.ts";

/** Runs the overload that fits the arguments; errors among them are the result. */
export function dispatcher(name: string, overloads: readonly Overload[], argTypes: readonly CelType[]): (args: Value[]) => Value {
  const first = overloads[0]!;
  const isOne = overloads.every((overload) => overload.implementation === first.implementation);
  if (isOne && first.isNonStrict === true) return (args) => first.implementation(...args);
  if (isOne && (first.isUnguarded === true || first.args.every((type, index) => isCertain(type, argTypes[index]!))))
    return strict((args) => first.implementation(...args));
  return strict((args) => {
    const fitting = overloads.find((overload) => fits(overload, args));
    return fitting === undefined ? new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(", ")})`) : fitting.implementation(...args);
  });
}

function strict(run: (args: Value[]) => Value): (args: Value[]) => Value {
  return (args) => {
    for (const arg of args) if (isCelError(arg)) return arg;
    return run(args);
  };
}

function fits(overload: Overload, args: readonly Value[]): boolean {
  return overload.args.every((type, index) => isOfType(args[index]!, type));
}

/** Whether a value of the type that the checker found needs no second look. */
function isCertain(declared: CelType, found: CelType): boolean {
  return declared.kind === "dyn" || declared.kind === "parameter" || (isSameType(declared, found) && isSimple(declared));
}

function isSimple(type: CelType): boolean {
  return !("parameters" in type) || type.parameters.length === 0;
}
