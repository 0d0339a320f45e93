/**
 * Converts Backups between example.com/v1 and example.com/v2, for the API server. Node alone runs it:
 *
 *     node convert.ts CERTIFICATE KEY PORT
 *
 * v1 has no time zone: what v2 says of it is kept in an annotation, so that nothing is lost on the way there and back.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingMessage } from "node:http";

export interface Backup {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string>; [member: string]: unknown };
  spec: { volume: string; schedule?: string; when?: { cron: string; timeZone?: string }; keep?: number };
  [member: string]: unknown;
}

interface ConversionReview {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: Backup[] };
}

const zoneAnnotation = "example.com/time-zone";
const defaultZone = "UTC";

/** The backup in another version. Only labels and annotations of its metadata may change. */
export function convert(backup: Backup, desired: string): Backup {
  if (backup.apiVersion === desired) return backup;
  switch (desired) {
    case "example.com/v1": {
      const { when, ...spec } = backup.spec;
      const { cron = "", timeZone = defaultZone } = when ?? {};
      const annotations = timeZone === defaultZone ? backup.metadata.annotations : { ...backup.metadata.annotations, [zoneAnnotation]: timeZone };
      return {
        ...backup,
        apiVersion: desired,
        metadata: { ...backup.metadata, ...(annotations !== undefined && { annotations }) },
        spec: { ...spec, schedule: cron },
      };
    }
    case "example.com/v2": {
      const { schedule = "", ...spec } = backup.spec;
      const { [zoneAnnotation]: timeZone = defaultZone, ...annotations } = backup.metadata.annotations ?? {};
      return { ...backup, apiVersion: desired, metadata: { ...backup.metadata, annotations }, spec: { ...spec, when: { cron: schedule, timeZone } } };
    }
    default:
      throw new Error(`there is no version ${desired}`);
  }
}

/** The answer to a review: all of its objects, in their order, or why not. */
export function answer({ apiVersion, kind, request: { uid, desiredAPIVersion, objects } }: ConversionReview): object {
  try {
    const convertedObjects = objects.map((backup) => convert(backup, desiredAPIVersion));
    return { apiVersion, kind, response: { uid, convertedObjects, result: { status: "Success" } } };
  } catch (error) {
    return {
      apiVersion,
      kind,
      response: { uid, convertedObjects: [], result: { status: "Failure", message: error instanceof Error ? error.message : String(error) } },
    };
  }
}

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}

if (import.meta.main) {
  const [certificate = "", key = "", port = ""] = process.argv.slice(2);
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
    read(request).then(
      (text) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer(JSON.parse(text) as ConversionReview))),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  server.listen(Number(port), "127.0.0.1", () => console.log(`converting on port ${port}`));
}
