/** Reads JSON documents of token issuers over HTTPS. Redirects are not followed: they could lead into the cluster. */
import { request } from "node:https";
import type { DocumentReader } from "../../apiserver/authn/jwt/key-set.ts";

const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;

export const readDocument: DocumentReader = (url, { certificateAuthority, signal }) =>
  new Promise((resolve, reject) => {
    const sent = request(url, { ...(certificateAuthority !== undefined && { ca: certificateAuthority }), signal, timeout: timeoutMs }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) sent.destroy(new Error(`${url} answers with more than ${maxBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode !== 200) return reject(new Error(`${url} answers ${response.statusCode}`));
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString()));
        } catch (error) {
          reject(new Error(`${url} does not answer with JSON`, { cause: error }));
        }
      });
    });
    sent.on("timeout", () => sent.destroy(new Error(`${url} does not answer in time`)));
    sent.on("error", reject);
    sent.end();
  });
