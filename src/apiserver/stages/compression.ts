/** Large answers are compressed for clients that take gzip, in the thread pool (feature APIResponseCompression). */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
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
    if (response.body.kind !== "bytes" || response.body.bytes.length < minBytes || !takesGzip(context.request.headers["accept-encoding"])) return response;
    if (!context.server.isEnabled("APIResponseCompression")) return response;
    const bytes = await compress(response.body.bytes, { level });
    return { ...response, headers: { ...response.headers, "content-encoding": "gzip", vary: varyOf(response.headers["vary"]) }, body: { kind: "bytes", bytes } };
  },
};

function takesGzip(header: string | undefined): boolean {
  return (header ?? "").split(",").some((encoding) => encoding.trim() === "gzip");
}

/** Vary with Accept-Encoding in it. */
function varyOf(vary: string | readonly string[] | undefined): string {
  const names = typeof vary === "string" ? vary : (vary ?? []).join(", ");
  if (names === "") return "Accept-Encoding";
  return names.includes("Accept-Encoding") ? names : `${names}, Accept-Encoding`;
}
