/** Which types may stand for which, and what type parameters are found to be on the way. */
import { isDynOrError, isSameType, nameOf, parametersOf } from "./types.ts";
import type { CelType, ParameterizedType, TypeParameter } from "./types.ts";

/** What each type parameter stands for. Assignments that fail leave no trace. */
export class Substitutions {
  #known = new Map<string, CelType>();

  /** Whether values of `from` can go where `to` is expected, all of them together. */
  assignAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    if (from.length !== to.length) return false;
    const before = new Map(this.#known);
    if (from.every((type, index) => this.#assign(type, to[index]!))) return true;
    this.#known = before;
    return false;
  }

  assign(from: CelType, to: CelType): boolean {
    return this.assignAll([from], [to]);
  }

  set(name: string, type: CelType): void {
    this.#known.set(name, type);
  }

  /** `type` with its parameters replaced by what they stand for; with `isFinal`, free ones become dyn. */
  apply(type: CelType, isFinal = false): CelType {
    if (type.kind === "parameter") {
      const known = this.#known.get(type.name);
      if (known !== undefined) return this.apply(known, isFinal);
      return isFinal ? { kind: "dyn" } : type;
    }
    const parameters = parametersOf(type);
    if (parameters.length === 0) return type;
    const applied = parameters.map((each) => this.apply(each, isFinal));
    return applied.every((each, index) => each === parameters[index]) ? type : { ...(type as ParameterizedType), parameters: applied };
  }

  #assign(left: CelType, right: CelType): boolean {
    if (right.kind === "parameter") {
      const { isValid, isKnown } = this.#stand(left, right);
      if (isValid || isKnown) return isValid;
    }
    if (left.kind === "parameter") return this.#stand(right, left).isValid;
    if (isDynOrError(left) || isDynOrError(right)) return true;
    if (left.kind === "null") return takesNull(right);
    if (right.kind === "null") return takesNull(left);
    if (left.kind !== right.kind) return false;
    if (left.kind === "type") return true;
    if (left.kind === "struct") return nameOf(left) === nameOf(right);
    const [a, b] = [parametersOf(left), parametersOf(right)];
    return nameOf(left) === nameOf(right) && a.length === b.length && a.every((type, index) => this.#assign(type, b[index]!));
  }

  #stand(type: CelType, parameter: TypeParameter): { isValid: boolean; isKnown: boolean } {
    if (isSameType(type, parameter)) return { isValid: true, isKnown: true };
    const known = this.#known.get(parameter.name);
    if (known === undefined) {
      if (this.#mentions(type, parameter)) return { isValid: false, isKnown: false };
      this.#known.set(parameter.name, type);
      return { isValid: true, isKnown: false };
    }
    if (isSameType(type, known)) return { isValid: true, isKnown: true };
    if (!this.#assign(type, known)) return { isValid: false, isKnown: true };
    const general = mostGeneral(type, known);
    if (!this.#mentions(general, parameter)) this.#known.set(parameter.name, general);
    return { isValid: true, isKnown: true };
  }

  #mentions(type: CelType, parameter: TypeParameter): boolean {
    if (type.kind === "parameter") {
      if (type.name === parameter.name) return true;
      const known = this.#known.get(type.name);
      return known !== undefined && this.#mentions(known, parameter);
    }
    return parametersOf(type).some((each) => this.#mentions(each, parameter));
  }
}

/** The type of the two that holds more values. */
export function mostGeneral(left: CelType, right: CelType): CelType {
  return isEqualOrLessSpecific(left, right) ? left : right;
}

function isEqualOrLessSpecific(left: CelType, right: CelType): boolean {
  if (left.kind === "dyn" || left.kind === "parameter") return true;
  if (right.kind === "dyn" || right.kind === "parameter" || left.kind !== right.kind) return false;
  if (left.kind === "type") return true;
  const [a, b] = [parametersOf(left), parametersOf(right)];
  return nameOf(left) === nameOf(right) && a.length === b.length && a.every((type, index) => isEqualOrLessSpecific(type, b[index]!));
}

function takesNull(type: CelType): boolean {
  return type.kind === "null" || type.kind === "struct" || type.kind === "opaque" || type.kind === "timestamp" || type.kind === "duration";
}
