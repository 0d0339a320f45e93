/** Regular expressions as Go has them: RE2's syntax, and time linear in the text whatever the expression. */
import { RE2JS, RE2JSException } from "re2js";

/** An expression that is compiled when it is first used. */
export class GoRegExp {
  readonly text: string;
  #compiled: RE2JS | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Whether the expression matches somewhere in `value`. Throws when it cannot be parsed. */
  matches(value: string): boolean {
    this.#compiled ??= RE2JS.compile(this.text);
    return this.#compiled.test(value);
  }
}

/** Why Go could not parse an expression, in its words; undefined when it can. */
export function regExpFault(text: string): string | undefined {
  try {
    RE2JS.compile(text);
    return undefined;
  } catch (error) {
    // It leaves out what Go shows of the rest: nothing.
    if (error instanceof RE2JSException) return error.message.replace(/end of expression$/, "$&: ``");
    throw error;
  }
}
