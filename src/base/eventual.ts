/**
 * What is there at once or comes later. Most steps of a request need no waiting; an `await` would still cost each of them a promise and a turn
 * of the queue.
 */
export type Eventual<T> = T | Promise<T>;

export function isPending<T>(value: Eventual<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** `next` of the value: at once when it is there. */
export function followedBy<T, U>(value: Eventual<T>, next: (value: T) => Eventual<U>): Eventual<U> {
  return isPending(value) ? value.then(next) : next(value);
}
