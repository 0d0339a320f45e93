/** Large answers are compressed for clients that take gzip, in the thread pool (feature APIResponseCompression). */
import { pipeline } from "node:stream";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import type { ResponseBody } from "../../apimachinery/request.ts";
import type { Stage } from "../request-context.ts";

/** Answers below this size are sent as they are. */
const minBytes = 128 * 1024;
/** Speed over size: clients sit near. */
const level = 1;
const compress = promisify(gzip);

export const compression: Stage = {
  name: "compression",
  async run(context, next) {
    const response = await next();
    if (!isLarge(response.body) || !takesGzip(context.request.headers["accept-encoding"])) return response;
    // (Documents that describe the API do not hang on the gate.)
    if (!context.server.isEnabled("APIResponseCompression") && !context.info.path.startsWith("/openapi/")) return response;
    const body = await compressed(response.body);
    return { ...response, headers: { ...response.headers, "content-encoding": "gzip", vary: varyOf(response.headers["vary"]) }, body };
  },
};

/** Documents that come in pieces are long. */
function isLarge(body: ResponseBody): body is ResponseBody & { kind: "bytes" | "stream" } {
  return body.kind === "bytes" ? body.bytes.length >= minBytes : body.kind === "stream" && body.isDocument === true;
}

async function compressed(body: ResponseBody & { kind: "bytes" | "stream" }): Promise<ResponseBody> {
  if (body.kind === "bytes") return { kind: "bytes", bytes: await compress(body.bytes, { level }) };
  const zipped = createGzip({ level, chunkSize: 64 * 1024 });
  // A failure destroys both ends, and with that reaches whoever reads.
  pipeline(body.chunks, zipped, () => {});
  return { kind: "stream", chunks: zipped, isDocument: true };
}

function takesGzip(header: string | undefined): boolean {
  return (header ?? "").split(",").some((encoding) => encoding.trim() === "gzip");
}

/** Vary with Accept-Encoding in it. */
function varyOf(vary: string | readonly string[] | undefined): string {
  const names = typeof vary === "string" ? vary : (vary ?? []).join(", ");
  if (names === "") return "Accept-Encoding";
  return names.includes("Accept-Encoding") ? names : `${names}, Accept-Encoding`;
}
