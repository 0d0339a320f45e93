/** What turns values into what the store holds and back. Keys of the store are part of it: some ciphers bind a value to its key. */

export interface Opened {
  readonly plain: Uint8Array;
  /** Whether today's rules would write it otherwise: it is written anew at the next occasion. */
  readonly isStale: boolean;
}

/** Both may need a plugin's answer; those that do not answer at once. */
export interface Transformer {
  /** Throws TransformError. */
  open(value: Uint8Array, key: string): Opened | Promise<Opened>;
  seal(plain: Uint8Array, key: string): Uint8Array | Promise<Uint8Array>;
}

/** A value that cannot be opened; the message is upstream's. */
export class TransformError extends Error {
  override name = "TransformError";
  readonly reason = "NotTransformable";
}

/** A transformer whose values begin with `prefix`; it sees them without. */
export interface Prefixed {
  readonly prefix: string;
  readonly transformer: Transformer;
}

/** The first of several writes; whichever knows a value's beginning reads it. `unknown`: what is said of a value that none knows. */
export function firstOf(choices: readonly Prefixed[], unknown: string): Transformer {
  const prefixes = choices.map(({ prefix }) => Buffer.from(prefix));
  return {
    open(value, key) {
      return tryFrom(0, undefined);

      function tryFrom(start: number, failure: unknown): Opened | Promise<Opened> {
        for (let index = start; index < choices.length; index++) {
          if (!startsWith(value, prefixes[index]!)) continue;
          const next = (error: unknown) => {
            if (!(error instanceof TransformError)) throw error;
            // That something is encrypted is no fault while another one may know it.
            return tryFrom(index + 1, prefixes[index]!.length === 0 ? failure : error);
          };
          try {
            const opened = choices[index]!.transformer.open(value.subarray(prefixes[index]!.length), key);
            const marked = ({ plain, isStale }: Opened): Opened => ({ plain, isStale: isStale || index > 0 });
            return opened instanceof Promise ? opened.then(marked, next) : marked(opened);
          } catch (error) {
            return next(error);
          }
        }
        throw failure ?? new TransformError(unknown);
      }
    },
    seal(plain, key) {
      const sealed = choices[0]!.transformer.seal(plain, key);
      const prepend = (bytes: Uint8Array) => (prefixes[0]!.length === 0 ? bytes : Buffer.concat([prefixes[0]!, bytes]));
      return sealed instanceof Promise ? sealed.then(prepend) : prepend(sealed);
    },
  };
}

function startsWith(value: Uint8Array, prefix: Uint8Array): boolean {
  return value.length >= prefix.length && prefix.every((byte, index) => value[index] === byte);
}

const encrypted = Buffer.from("k8s:enc:");

/** Values as they are. */
export const identity: Transformer = {
  open(value) {
    if (startsWith(value, encrypted)) throw new TransformError("identity transformer tried to read encrypted data");
    return { plain: value, isStale: false };
  },
  seal: (plain) => plain,
};
