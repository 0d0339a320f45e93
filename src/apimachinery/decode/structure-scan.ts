/** One pass over the bytes of a JSON text, to learn whether `JSON.parse` would lose anything of it. */

export interface Structure {
  /** Colons outside strings: the number of members of all objects, if the text is JSON. */
  readonly members: number;
  /** False when a number's text or a string might not survive `JSON.parse`, or nesting is deep. */
  readonly isPlain: boolean;
}

/** Levels up to which recursion is safe. */
const plainDepth = 200;

export function scanStructure(bytes: Uint8Array): Structure {
  let members = 0;
  let depth = 0;
  let deepest = 0;
  let isPlain = true;
  const length = bytes.length;
  for (let index = 0; index < length; index++) {
    const byte = bytes[index]!;
    if (byte === 0x22) {
      for (index++; index < length && bytes[index] !== 0x22; index++) {
        if (bytes[index] !== 0x5c) continue;
        index++;
        // \uD8xx to \uDFxx may be half of a pair that Go would replace.
        if (bytes[index] === 0x75 && (bytes[index + 1]! | 0x20) === 0x64) isPlain = false;
      }
    } else if (byte === 0x3a) members++;
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const start = index;
      while (isNumberByte(bytes[index + 1])) index++;
      if (index - start >= 15 || byte === 0x2d || hasFraction(bytes, start, index)) isPlain = false;
    }
  }
  return { members, isPlain: isPlain && deepest <= plainDepth };
}

function isNumberByte(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || byte === 0x2e || byte === 0x65 || byte === 0x45 || byte === 0x2b || byte === 0x2d);
}

function hasFraction(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index <= end; index++) {
    const byte = bytes[index]!;
    if (byte < 0x30 || byte > 0x39) return true;
  }
  return false;
}
