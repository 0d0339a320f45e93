/** What the scheduler counts of itself, from its `/metrics`. */
import https from "node:https";
import type { ConnectionSettings } from "../../../src/client/index.ts";

export async function schedulerFigures({ ca, certificate, key }: ConnectionSettings, port: number): Promise<{ decisions: number; seconds: number }> {
  const text = await new Promise<string>((resolve, reject) => {
    https
      .get({ host: "127.0.0.1", port, path: "/metrics", ca: ca as Buffer, cert: certificate as Buffer, key: key as Buffer }, (response) => {
        response.setEncoding("utf8");
        let body = "";
        response.on("data", (chunk: string) => (body += chunk));
        response.on("end", () => resolve(body));
      })
      .on("error", reject);
  });
  const valueOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
  return {
    decisions: valueOf("scheduler_scheduling_algorithm_duration_seconds_count"),
    seconds: valueOf("scheduler_scheduling_algorithm_duration_seconds_sum"),
  };
}
