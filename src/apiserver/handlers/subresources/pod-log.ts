/** Logs of pods: options as they are checked before the kubelet is asked (API reference "PodLogOptions"), and the kubelet's refusals as a Status. */
import { forbidden, invalid } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { goQuote } from "../../../apimachinery/go/go-quote.ts";
import { TimeError, parseInstant } from "../../../apimachinery/time.ts";
import { badRequestError, internalServerError, invalidError, StatusError } from "../../../apimachinery/status.ts";
import type { ApiResponse } from "../../../apimachinery/request.ts";

/** Throws 422, and 400 for what is no number or time. */
export function validateLogOptions(query: URLSearchParams, podName: string): void {
  for (const name of ["tailLines", "limitBytes", "sinceSeconds"]) {
    const text = query.get(name) ?? "";
    if (text !== "" && !/^[+-]?\d+$/.test(text)) throw badRequestError(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`);
  }
  const since = query.get("sinceTime") ?? "";
  if (since !== "") checkTime(since);
  const errors: FieldError[] = [];
  const check = (name: string, minimum: 0 | 1) => {
    const text = query.get(name);
    if (text === null || !/^-?\d+$/.test(text) || Number(text) >= minimum) return;
    errors.push(invalid(FieldPath.root(name), Number(text), `must be greater than ${minimum === 0 ? "or equal to 0" : "0"}`));
  };
  check("tailLines", 0);
  check("limitBytes", 1);
  if (query.has("sinceSeconds") && query.has("sinceTime"))
    errors.push(forbidden(FieldPath.root("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  check("sinceSeconds", 1);
  if (query.has("stream")) errors.push(forbidden(FieldPath.root("stream"), "may not be specified"));
  if (errors.length > 0) throw invalidError({ group: "", kind: "PodLogOptions" }, podName, errors);
}

function checkTime(text: string): void {
  try {
    parseInstant(text, "time");
  } catch (error) {
    throw error instanceof TimeError ? badRequestError(error.message) : error;
  }
}

/** The kubelet's answer; what it refuses in plain text is thrown as a StatusError. */
export async function checkedLogAnswer(answer: ApiResponse, podName: string): Promise<ApiResponse> {
  if (answer.status >= 200 && answer.status <= 206) return answer;
  const text = await firstBytes(answer);
  if (answer.status === 400) throw badRequestError(text);
  if (answer.status === 500) throw internalServerError(text);
  throw new StatusError({
    message: text,
    reason: answer.status === 404 ? "NotFound" : "Unknown",
    details: { name: podName, kind: "pods" },
    code: answer.status,
  });
}

const limitBytes = 1024;

async function firstBytes({ body }: ApiResponse): Promise<string> {
  if (body.kind === "bytes") return Buffer.from(body.bytes).toString("utf8");
  if (body.kind === "upgrade") return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body.chunks) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limitBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, limitBytes).toString("utf8");
}
