/** Tells the audit of a request's stages: that it came, that its answer began (where that lasts), how it ended. */
import { decodeUntyped } from "../../apimachinery/decode/decode-object.ts";
import { isObject } from "../../apimachinery/json.ts";
import type { JsonValue } from "../../apimachinery/json.ts";
import { decodeProtobuf } from "../../apimachinery/protobuf/envelope.ts";
import { headerOf } from "../../apimachinery/request.ts";
import type { ApiResponse, UpgradedConnection } from "../../apimachinery/request.ts";
import { StatusError, internalServerError, timeoutError } from "../../apimachinery/status.ts";
import type { Status } from "../../apimachinery/status.ts";
import { typeRegistry } from "../../api/registry.ts";
import { startOf } from "../audit/latencies.ts";
import type { AuditRecord } from "../audit/record.ts";
import type { AuditStage } from "../audit/policy.ts";
import { isLongRunning } from "../http/long-running.ts";
import { toStatus } from "../http/write-response.ts";
import type { NextStage, RequestContext, Stage } from "../request-context.ts";

export const audit: Stage = {
  name: "audit",
  run(context, next) {
    const record = context.server.audit?.begin(context, context.user);
    if (record === undefined) return next();
    context.audit = record;
    return audited(context, record, next);
  },
};

async function audited(context: RequestContext, record: AuditRecord, next: NextStage): Promise<ApiResponse> {
  const auditor = context.server.audit!;
  if (!(await auditor.tell(record, "RequestReceived"))) throw internalServerError("failed to store audit event");
  let response: ApiResponse;
  try {
    response = await next();
  } catch (error) {
    await failed(context, record, error);
    throw error;
  }
  const tell = (stage: AuditStage) => auditor.tell(record, stage);
  if (isLongRunning(context)) return lasting(context, record, { response, tell });
  if (response.body.kind === "stream" && !record.wantsResponse) return sending(context, record, { response: measuredWrites(context, response), tell });
  const whole = response.body.kind === "stream" ? await collected(response, response.body.chunks) : response;
  await answered(record, whole, () => tell("ResponseComplete"));
  return whole;
}

async function failed(context: RequestContext, record: AuditRecord, error: unknown): Promise<void> {
  const auditor = context.server.audit!;
  const isOverTime = !(error instanceof StatusError) && context.signal.aborted;
  const status = toStatus(isOverTime ? timeoutError("request did not complete within the allotted timeout", 0) : error);
  record.noteStatus(status.code ?? 500, status);
  record.noteResponse(status as unknown as JsonValue);
  if (isLongRunning(context)) await auditor.tell(record, "ResponseStarted");
  await auditor.tell(record, error instanceof StatusError || isOverTime ? "ResponseComplete" : "Panic");
}

interface Answer {
  readonly response: ApiResponse;
  tell(stage: AuditStage): Promise<boolean>;
}

/** The answer is told when it begins and when it ends. */
async function lasting({ request }: RequestContext, record: AuditRecord, { response, tell }: Answer): Promise<ApiResponse> {
  if (response.body.kind === "bytes") {
    await answered(record, response, async () => (await tell("ResponseStarted")) && tell("ResponseComplete"));
    return response;
  }
  record.noteStatus(response.status);
  await tell("ResponseStarted");
  return sending({ request }, record, { response, tell });
}

/** The answer's end is told when the client has all of it. */
function sending({ request }: Pick<RequestContext, "request">, record: AuditRecord, { response, tell }: Answer): ApiResponse {
  record.noteStatus(response.status);
  let isTold = false;
  const complete = async () => {
    if (isTold) return;
    isTold = true;
    await tell("ResponseComplete");
  };
  // Nobody may ever read what a client that has left asked for.
  request.signal.addEventListener("abort", () => void complete(), { once: true });
  return { ...response, body: followed(response.body, complete) };
}

function followed(body: ApiResponse["body"], complete: () => Promise<void>): ApiResponse["body"] {
  switch (body.kind) {
    case "bytes":
      return body;
    case "stream":
      return { ...body, chunks: untilEnd(body.chunks, complete) };
    case "upgrade":
      return { ...body, accept: (connection: UpgradedConnection) => body.accept(connection).finally(complete) };
  }
}

/** Of a document in pieces it is noted how long the client took for them, and how long it took to make them. */
function measuredWrites(context: RequestContext, response: ApiResponse): ApiResponse {
  const { body } = response;
  return body.kind === "stream" ? { ...response, body: { ...body, chunks: measured(context, body.chunks) } } : response;
}

async function* measured(context: RequestContext, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let made = startOf(context, "serialize-response-object");
  for await (const chunk of chunks) {
    made();
    const written = startOf(context, "response-write");
    yield chunk;
    written();
    made = startOf(context, "serialize-response-object");
  }
  made();
}

async function* untilEnd(chunks: AsyncIterable<Uint8Array>, complete: () => Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } finally {
    await complete();
  }
}

/** Documents longer than this are not kept for the audit. */
const documentLimit = 64 * 1024 * 1024;

/** A document in pieces as one, unless it is too long. */
async function collected(response: ApiResponse, chunks: AsyncIterable<Uint8Array>): Promise<ApiResponse> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const rest = chunks[Symbol.asyncIterator]();
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    pieces.push(next.value);
    bytes += next.value.length;
    if (bytes > documentLimit) return { ...response, body: { kind: "stream", chunks: continued(pieces, rest), isDocument: true } };
  }
  return { ...response, body: { kind: "bytes", bytes: Buffer.concat(pieces) } };
}

async function* continued(pieces: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Notes the object of a whole answer, then calls `tell`. */
async function answered(record: AuditRecord, response: ApiResponse, tell: () => Promise<boolean>): Promise<void> {
  const value = response.body.kind === "bytes" ? objectOf(response, response.body.bytes) : undefined;
  const status = isObject(value) && value["kind"] === "Status" ? (value as unknown as Status) : undefined;
  record.noteStatus(response.status, status);
  if (value !== undefined) record.noteResponse(value);
  await tell();
}

/** The object that an answer shows; undefined when it shows none. */
function objectOf(response: ApiResponse, bytes: Uint8Array): JsonValue | undefined {
  if (bytes.length === 0 || bytes.length > documentLimit) return undefined;
  const type = (headerOf(response.headers, "content-type") ?? "").split(";")[0];
  try {
    switch (type) {
      case "application/json":
        return decodeUntyped(bytes, { mediaType: "json" }).value;
      case "application/yaml":
        return decodeUntyped(bytes, { mediaType: "yaml" }).value;
      case "application/cbor":
        return decodeUntyped(bytes, { mediaType: "cbor" }).value;
      case "application/vnd.kubernetes.protobuf":
        return decodeProtobuf(bytes, typeRegistry).object as JsonValue;
      default:
        return undefined;
    }
  } catch {
    // An answer in a form of its own, such as one that came through a proxy.
    return undefined;
  }
}
