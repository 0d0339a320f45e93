/** A component's `/metrics`, and sums over them. */
import https from "node:https";
import type { ConnectionSettings } from "../../../src/client/index.ts";

export function metricsOf({ ca, certificate, key }: ConnectionSettings, port: number): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    https
      .get({ host: "127.0.0.1", port, path: "/metrics", ca: ca as Buffer, cert: certificate as Buffer, key: key as Buffer }, (response) => {
        response.setEncoding("utf8");
        let body = "";
        response.on("data", (chunk: string) => (body += chunk));
        response.on("end", () => resolve(body));
      })
      .on("error", reject);
  });
}

/** The sum of a metric's values whose labels match. */
export function sumOf(text: string, name: string, labels = /^/): number {
  let sum = 0;
  for (const [, found = "", value] of text.matchAll(new RegExp(`^${name}(?:{(.*)})? (\\S+)$`, "gm"))) if (labels.test(found)) sum += Number(value);
  return sum;
}
