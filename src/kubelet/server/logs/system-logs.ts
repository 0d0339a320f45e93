/** `/logs`: the machine's own log files, as Go's file server shows a directory. */
import { open, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { bytesResponse } from "../../../apimachinery/request.ts";
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { notFound } from "../server-call.ts";
import type { Call } from "../server-call.ts";

export async function serveSystemLogs({ options, parts, request }: Call): Promise<ApiResponse> {
  const { systemLogs } = options;
  if (systemLogs === undefined) return notFound();
  const root = await realpath(systemLogs).catch(() => undefined);
  // A link may not lead elsewhere.
  const path = root === undefined ? undefined : await realpath(join(root, ...parts)).catch(() => undefined);
  if (root === undefined || path === undefined || (path !== root && !path.startsWith(`${root}/`))) return notFound();
  const status = await stat(path);
  if (status.isDirectory()) {
    if (!request.path.endsWith("/")) return { ...bytesResponse(301, "text/plain; charset=utf-8", ""), headers: { location: `${parts.at(-1) ?? "logs"}/` } };
    const entries = (await readdir(path, { withFileTypes: true })).map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
    return bytesResponse(
      200,
      "text/html; charset=utf-8",
      `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${entries.map(link).join("")}</pre>\n`,
    );
  }
  if (!status.isFile()) return notFound();
  return {
    status: 200,
    headers: { "content-type": "text/plain; charset=utf-8", "content-length": String(status.size) },
    body: { kind: "stream", chunks: readFileChunks(path, status.size) },
  };
}

/** As long as it was when it was opened, however it grows. */
async function* readFileChunks(path: string, size: number): AsyncGenerator<Uint8Array> {
  const file = await open(path, "r");
  try {
    for (let position = 0; position < size;) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(chunkBytes, size - position)), 0, undefined, position);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      position += bytesRead;
    }
  } finally {
    await file.close();
  }
}

const chunkBytes = 64 * 1024;

function link(name: string): string {
  const text = name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&#34;");
  return `<a href="${encodeURI(name)}">${text}</a>\n`;
}
