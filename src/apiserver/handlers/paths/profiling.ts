/**
 * `/debug/pprof` and `/debug/flags/v` (flag `--profiling`): profiles of the running server, and how much it logs. Profiles are V8's: a
 * `.cpuprofile` and a `.heapprofile`, which browsers' developer tools open.
 */
import { Session } from "node:inspector/promises";
import { sleep } from "../../../base/clock.ts";
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { bytesResponse } from "../../../apimachinery/request.ts";
import { plainText } from "../../http/write-response.ts";
import type { RequestContext } from "../../request-context.ts";

const root = "/debug/pprof";
const html = "text/html; charset=utf-8";
const defaultSeconds = 30;
const maxSeconds = 300;

/** The answer to a path of these, or undefined. */
export async function handleProfiling(context: RequestContext): Promise<ApiResponse | undefined> {
  const { path } = context.info;
  if (!context.server.settings.hasProfiling || !path.startsWith("/debug/")) return undefined;
  if (path === "/debug/flags/v") return setVerbosity(context);
  if (path === root) return bytesResponse(302, html, `<a href="${root}/">Found</a>.\n\n`, { location: `${root}/` });
  if (!path.startsWith(`${root}/`)) return undefined;
  const name = path.slice(root.length + 1);
  if (name === "") return bytesResponse(200, html, index, { "x-content-type-options": "nosniff" });
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined) return plainText(404, "Unknown profile\n");
  return profile.make(context);
}

interface Profile {
  readonly says: string;
  make(context: RequestContext): Promise<ApiResponse>;
}

const profiles: Readonly<Record<string, Profile>> = {
  cmdline: { says: "The command line of the server.", make: async () => bytesResponse(200, "text/plain; charset=utf-8", process.argv.join("\0")) },
  heap: { says: "Where the memory in use was allocated.", make: async () => sampled("heap.heapprofile", (session) => heapProfile(session)) },
  profile: {
    says: "Where the processor's time goes, for as many seconds as the query says.",
    make: async (context) => sampled("profile.cpuprofile", (session) => cpuProfile(session, context)),
  },
};

const index = `<html><head><title>${root}/</title></head><body><h1>${root}/</h1><ul>${Object.entries(profiles)
  .map(([name, { says }]) => `<li><a href="${name}">${name}</a>: ${says}</li>`)
  .join("")}</ul></body></html>\n`;

async function sampled(file: string, take: (session: Session) => Promise<unknown>): Promise<ApiResponse> {
  const session = new Session();
  session.connect();
  try {
    return bytesResponse(200, "application/octet-stream", JSON.stringify(await take(session)), {
      "content-disposition": `attachment; filename="${file}"`,
      "x-content-type-options": "nosniff",
    });
  } finally {
    session.disconnect();
  }
}

async function cpuProfile(session: Session, { query, server, signal }: RequestContext): Promise<unknown> {
  const seconds = Number(query.get("seconds") ?? defaultSeconds);
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  await sleep(server.clock, Math.min(seconds > 0 ? seconds : defaultSeconds, maxSeconds) * 1000, signal);
  return (await session.post("Profiler.stop")).profile;
}

async function heapProfile(session: Session): Promise<unknown> {
  await session.post("HeapProfiler.enable");
  await session.post("HeapProfiler.startSampling");
  return (await session.post("HeapProfiler.stopSampling")).profile;
}

function setVerbosity({ request, server }: RequestContext): ApiResponse {
  if (request.method !== "PUT") return plainText(406, "unsupported http method\n");
  const text = Buffer.from(request.body).toString();
  if (!/^\d+$/.test(text)) return plainText(400, `strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax\n`);
  server.setVerbosity(Number(text));
  return plainText(200, `successfully set klog.logging.verbosity to ${text}\n`);
}
