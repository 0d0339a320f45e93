/** PEM blocks (RFC 7468), with the headers that older tools wrote. What stands between blocks is skipped, as is a block that is not well-formed. */
export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

export function decodePem(text: string): PemBlock[] {
  return [...text.matchAll(block)].flatMap(([, type, body]) => {
    const headers = /^(?:[^\n:]+:[^\n]*\n)+\r?\n/.exec(body!);
    const data = (headers === null ? body! : body!.slice(headers[0].length)).replace(/\s+/g, "");
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(data) || data.length % 4 !== 0) return [];
    return [{ type: type!, hasHeaders: headers !== null, bytes: Buffer.from(data, "base64") }];
  });
}

const block = /(?:^|\n)-----BEGIN ([^\n-]+)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----/g;
