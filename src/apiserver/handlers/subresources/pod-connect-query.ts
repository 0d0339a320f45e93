/** Queries of log, exec, attach and port-forward as the kubelet takes them (API references "PodExecOptions", "PodAttachOptions", "PodPortForwardOptions"). Pure. */
import { badRequestError } from "../../../apimachinery/status.ts";

/** `raw` as it stood in the request. Streams become the kubelet's `input`, `output`, `error`, each with the value 1. */
export function commandQuery(raw: string): string {
  const query = new URLSearchParams(withoutSemicolons(raw));
  const out = new URLSearchParams();
  for (const [own, name] of streamNames) if (isOn(query.get(own))) out.append(name, "1");
  for (const word of query.getAll("command")) out.append("command", word);
  return out.toString();
}

/** Ports as `port`; throws 400 for what is no port number. */
export function portForwardQuery(query: URLSearchParams): string {
  const out = new URLSearchParams();
  for (const text of query.getAll("ports").flatMap((list) => list.split(","))) {
    if (!/^\d+$/.test(text)) throw badRequestError(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
    if (BigInt(text) > 65_535n) throw badRequestError(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`);
    out.append("port", text);
  }
  return out.toString();
}

/** All but what the API server itself reads. */
export function logQuery(query: URLSearchParams): string {
  return new URLSearchParams([...query].filter(([name]) => name !== "container" && name !== "insecureSkipTLSVerifyBackend")).toString();
}

const streamNames = [
  ["stdin", "input"],
  ["stdout", "output"],
  ["stderr", "error"],
  ["tty", "tty"],
] as const;

/** Every value but `0` and `false` counts as true, an empty one too; of several the first. */
function isOn(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** A pair with a semicolon is dropped whole, as Go's parser does. */
function withoutSemicolons(raw: string): string {
  return raw
    .split("&")
    .filter((pair) => !pair.includes(";"))
    .join("&");
}
