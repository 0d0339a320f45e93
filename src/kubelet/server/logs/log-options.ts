/** Options of `/containerLogs` (API reference "PodLogOptions"). Pure. */
import { parseTime } from "../../../apimachinery/time.ts";

export interface LogOptions {
  readonly isFollowing: boolean;
  readonly isPrevious: boolean;
  readonly hasTimestamps: boolean;
  /** Undefined: from the beginning. */
  readonly tailLines?: number;
  readonly limitBytes?: number;
  readonly sinceMs?: number;
  /** Undefined: both. */
  readonly stream?: "stdout" | "stderr";
}

/** Undefined when a value cannot be read. */
export function readLogOptions(query: URLSearchParams, nowMs: number): LogOptions | undefined {
  const flag = (name: string) => {
    const text = query.get(name);
    return text !== null && text !== "false" && text !== "0";
  };
  const [tailLines, limitBytes, sinceSeconds] = ["tailLines", "limitBytes", "sinceSeconds"].map((name) => wholeNumber(query.get(name)));
  if (Number.isNaN(tailLines) || Number.isNaN(limitBytes) || Number.isNaN(sinceSeconds)) return undefined;
  const sinceTime = query.get("sinceTime");
  let sinceMs = sinceSeconds === undefined ? undefined : nowMs - sinceSeconds * 1000;
  if (sinceTime !== null && sinceTime !== "") {
    try {
      sinceMs = parseTime(sinceTime);
    } catch {
      return undefined;
    }
  }
  const stream = query.get("stream");
  return {
    isFollowing: flag("follow"),
    isPrevious: flag("previous"),
    hasTimestamps: flag("timestamps"),
    ...(tailLines !== undefined && { tailLines }),
    ...(limitBytes !== undefined && { limitBytes }),
    ...(sinceMs !== undefined && { sinceMs }),
    ...((stream === "Stdout" || stream === "Stderr") && { stream: stream === "Stdout" ? ("stdout" as const) : ("stderr" as const) }),
  };
}

function wholeNumber(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  return /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
}
