/** Answers of webhooks that are failures: what they mean, in the words of Kubernetes' clients, and whether to ask again. */
import { goQuote } from "../../apimachinery/go/go-quote.ts";

/** How long a busy server asks to be left alone; undefined when it does not. */
export function retryAfterMs(status: number, retryAfter = ""): number | undefined {
  if (status !== 429 && status < 500) return undefined;
  const seconds = Number(retryAfter);
  return seconds > 0 ? seconds * 1000 : undefined;
}

const failureTexts: ReadonlyMap<number, string> = new Map([
  [400, "the server rejected our request for an unknown reason"],
  [401, "the server has asked for the client to provide credentials"],
  [404, "the server could not find the requested resource"],
  [405, "the server does not allow this method on the requested resource"],
  [409, "the server reported a conflict"],
  [422, "the server rejected our request due to an error in our request"],
  [429, "the server has received too many requests and has asked us to try again later"],
  [503, "the server is currently unable to handle the request"],
  [504, "the server was unable to return a response in the time allotted, but may still be processing the request"],
]);

/** A Status says it itself; the rest is told by its code. */
export function failureText(status: number, text: string): string {
  const told = statusMessage(text) ?? failureTexts.get(status);
  if (told !== undefined) return told;
  const shown = text === "" ? "unknown" : text;
  if (status === 403 || status === 406 || status === 415) return shown;
  return status >= 500
    ? `an error on the server (${goQuote(shown)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}

function statusMessage(text: string): string | undefined {
  try {
    const read = JSON.parse(text) as { kind?: string; message?: string } | null;
    return read?.kind === "Status" ? read.message : undefined;
  } catch {
    // Any text may stand in the body of a failure.
    return undefined;
  }
}
