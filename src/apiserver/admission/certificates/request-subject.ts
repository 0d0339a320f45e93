/** The subject of a certification request (PKCS #10, RFC 2986), as far as admission looks at it. */
import { decodePem } from "../../../api/certificates-v1/pem.ts";

export interface RequestSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

const commonNameId = "550403";
const organizationId = "55040a";
const maxLengthBytes = 6;

/** The subject of the request in `spec.request` (base64 of PEM), or undefined when it cannot be read. */
export function requestSubject(encoded: string): RequestSubject | undefined {
  const block = decodePem(Buffer.from(encoded, "base64").toString("latin1")).find(({ type }) => type === "CERTIFICATE REQUEST");
  return block === undefined ? undefined : subjectOf(block.bytes);
}

/** The same for DER. */
export function subjectOf(der: Uint8Array): RequestSubject | undefined {
  const name = readAll(readAll(readAll(der)?.[0]?.content)?.[0]?.content)?.[1];
  if (name === undefined) return undefined;
  let commonName = "";
  const organizations: string[] = [];
  for (const set of readAll(name.content) ?? []) {
    for (const attribute of readAll(set.content) ?? []) {
      const [id, value] = readAll(attribute.content) ?? [];
      if (id === undefined || value === undefined) continue;
      const text = Buffer.from(value.content).toString("utf8");
      const oid = Buffer.from(id.content).toString("hex");
      if (oid === commonNameId) commonName = text;
      else if (oid === organizationId) organizations.push(text);
    }
  }
  return { commonName, organizations };
}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** The DER elements that fill `bytes`; undefined when they do not. */
function readAll(bytes: Uint8Array | undefined): Element[] | undefined {
  if (bytes === undefined) return undefined;
  const elements: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at]!;
    let length = bytes[at + 1];
    let start = at + 2;
    if (length === undefined) return undefined;
    if (length > 0x7f) {
      const size = length & 0x7f;
      if (size === 0 || size > maxLengthBytes) return undefined;
      length = 0;
      for (let index = 0; index < size; index++) length = length * 256 + (bytes[start + index] ?? 0);
      start += size;
    }
    if (start + length > bytes.length) return undefined;
    elements.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return elements;
}
