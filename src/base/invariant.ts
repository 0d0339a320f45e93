/** A programmer's error: thrown, never caught. */
export class InvariantError extends Error {
  override name = "InvariantError";
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** For the default branch of a switch over a union: a compile error when a case is missing. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable value ${String(value)}`);
}
