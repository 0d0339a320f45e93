/** Certification requests (PKCS #10, RFC 2986), as far as validation looks into them: are they well-formed, and signed with the key they name. */
import { createPublicKey, verify } from "node:crypto";

export interface CertificationRequest {
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  /** Whether the signature is that of the key. */
  readonly isSelfSigned: boolean;
}

/** The request in `bytes` (DER), or undefined when it is none. */
export function parseCertificationRequest(bytes: Uint8Array): CertificationRequest | undefined {
  const outer = readAll(bytes);
  if (outer?.length !== 1 || outer[0]!.tag !== sequence) return undefined;
  const [info, algorithm, signature] = readAll(outer[0]!.content) ?? [];
  if (info?.tag !== sequence || algorithm?.tag !== sequence || signature?.tag !== bitString) return undefined;
  const [version, subject, publicKey] = readAll(info.content) ?? [];
  const oid = readAll(algorithm.content)?.[0];
  if (version?.tag !== integer || subject?.tag !== sequence || publicKey?.tag !== sequence || oid === undefined) return undefined;
  // The first byte of a bit string counts its unused bits.
  const isSelfSigned = isSignedBy(publicKey.whole, info.whole, signature.content.subarray(1), Buffer.from(oid.content).toString("hex"));
  return isSelfSigned === undefined ? undefined : { publicKey: publicKey.whole, isSelfSigned };
}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
  /** Tag, length and content. */
  readonly whole: Uint8Array;
}

const sequence = 0x30;
const integer = 0x02;
const bitString = 0x03;

/** Hash of each signature algorithm, by its object identifier (DER, hex); ed25519 has none. */
const hashes: ReadonlyMap<string, string | null> = new Map([
  ["2a864886f70d010105", "sha1"],
  ["2a864886f70d01010b", "sha256"],
  ["2a864886f70d01010c", "sha384"],
  ["2a864886f70d01010d", "sha512"],
  ["2a8648ce3d0401", "sha1"],
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
  ["2b6570", null],
]);

/** Undefined when the key cannot be read. */
function isSignedBy(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array, algorithm: string): boolean | undefined {
  const hash = hashes.get(algorithm);
  if (hash === undefined) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: "der", type: "spki" });
    return verify(hash, data, key, signature);
  } catch {
    // node:crypto tells a key that it cannot read by throwing; what it says is of no use to the caller.
    return undefined;
  }
}

/** The elements that `bytes` consist of, or undefined when a length does not fit. */
function readAll(bytes: Uint8Array): Element[] | undefined {
  const elements: Element[] = [];
  for (let position = 0; position < bytes.length;) {
    const first = bytes[position + 1] ?? 0x80;
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    if (first === 0x80 || lengthBytes > 4) return undefined;
    let length = lengthBytes === 0 ? first : 0;
    for (let index = 0; index < lengthBytes; index++) length = length * 256 + (bytes[position + 2 + index] ?? 0);
    const start = position + 2 + lengthBytes;
    if (start + length > bytes.length) return undefined;
    elements.push({ tag: bytes[position]!, content: bytes.subarray(start, start + length), whole: bytes.subarray(position, start + length) });
    position = start + length;
  }
  return elements;
}
