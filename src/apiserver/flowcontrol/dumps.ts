/** `/debug/api_priority_and_fairness/…`: what levels, queues and requests are at, as tables of text (documentation page "API Priority and Fairness: Debug endpoints"). */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { isTrue } from "../http/request-info.ts";
import type { RequestContext } from "../request-context.ts";
import type { PriorityLevel } from "./priority-level.ts";
import { workOf } from "./queues/seat-request.ts";
import type { FairQueue, SeatRequest } from "./queues/seat-request.ts";

const prefix = "/debug/api_priority_and_fairness/";

/** The answer to a path of dumps, or undefined when it is none. */
export function handleFairnessDumps({ server, info, query }: RequestContext): ApiResponse | undefined {
  const { flowControl, clock } = server;
  if (flowControl === undefined || !info.path.startsWith(prefix)) return undefined;
  const levels = flowControl.levels();
  switch (info.path.slice(prefix.length)) {
    case "dump_priority_levels":
      return table([levelHeads, ...levels.map(levelRow)]);
    case "dump_queues":
      return table([queueHeads, ...levels.flatMap(queueRows)]);
    case "dump_requests": {
      const hasDetails = query.has("includeRequestDetails") && isTrue(query.get("includeRequestDetails"));
      // Monotonic times are shown on the wall clock.
      const offsetMs = clock.nowMs() - clock.monotonicMs();
      const rows = requestsOf(levels).map((row) => [...requestCells(row, offsetMs), ...(hasDetails ? detailCells(row.request) : [])]);
      return table([hasDetails ? [...requestHeads, ...detailHeads] : requestHeads, ...rows]);
    }
    default:
      return undefined;
  }
}

const levelHeads = [
  "PriorityLevelName",
  "ActiveQueues",
  "IsIdle",
  "IsQuiescing",
  "WaitingRequests",
  "ExecutingRequests",
  "DispatchedRequests",
  "RejectedRequests",
  "TimedoutRequests",
  "CancelledRequests",
];

function levelRow({ name, queueSet, isIdle, isQuiescing, counts }: PriorityLevel): string[] {
  return [
    name,
    ...[
      queueSet.activeQueues,
      isIdle,
      isQuiescing,
      queueSet.waiting,
      queueSet.executing,
      counts.dispatched,
      counts.refused,
      counts.timedOut,
      counts.cancelled,
    ].map(String),
  ];
}

const queueHeads = [
  "PriorityLevelName",
  "Index",
  "PendingRequests",
  "ExecutingRequests",
  "SeatsInUse",
  "NextDispatchR",
  "InitialSeatsSum",
  "MaxSeatsSum",
  "TotalWorkSum",
];
/** Of more queues only those that are in use are shown. */
const shownQueues = 1024;

function queueRows({ name, queueSet }: PriorityLevel): string[][] {
  const { queues, queueCount } = queueSet;
  const beyond = [...queues.keys()].filter((index) => index >= queueCount);
  const indices = queueCount > shownQueues ? [...queues.keys()] : [...Array.from({ length: queueCount }, (_, index) => index), ...beyond];
  return indices.sort((a, b) => a - b).map((index) => [name, String(index), ...queueCells(queues.get(index))]);
}

function queueCells(queue: FairQueue | undefined): string[] {
  const { waiting = [], executing = new Set(), seatsInUse = 0, nextDispatchR = 0 } = queue ?? {};
  const sum = (value: (request: SeatRequest) => number) => waiting.reduce((total, request) => total + value(request), 0);
  return [
    String(waiting.length),
    String(executing.size),
    String(seatsInUse),
    seatSeconds(nextDispatchR),
    String(sum((request) => request.work.initialSeats)),
    String(sum((request) => request.seats)),
    seatSeconds(sum((request) => workOf(request.work))),
  ];
}

const seatSeconds = (amount: number) => `${amount.toFixed(8)}ss`;

interface RequestRow {
  readonly level: string;
  readonly queue: number;
  readonly place: number;
  readonly request: SeatRequest;
}

/** What is in queues first, then what runs without one. */
function requestsOf(levels: readonly PriorityLevel[]): RequestRow[] {
  const queued = levels.flatMap(({ name, queueSet }) =>
    [...queueSet.queues.values()]
      .sort((a, b) => a.index - b.index)
      .flatMap(({ index, waiting, executing }) => [
        ...waiting.map((request, place) => ({ level: name, queue: index, place, request })),
        ...[...executing].map((request) => ({ level: name, queue: index, place: -1, request })),
      ]),
  );
  return [...queued, ...levels.flatMap(({ name, queueSet }) => [...queueSet.unqueued].map((request) => ({ level: name, queue: -1, place: -1, request })))];
}

const requestHeads = [
  "PriorityLevelName",
  "FlowSchemaName",
  "QueueIndex",
  "RequestIndexInQueue",
  "FlowDistingsher",
  "ArriveTime",
  "InitialSeats",
  "FinalSeats",
  "AdditionalLatency",
  "StartTime",
];

function requestCells({ level, queue, place, request }: RequestRow, offsetMs: number): string[] {
  const { flow, work, arrivedMs, startedMs, state } = request;
  const started = state === "waiting" ? "0001-01-01T00:00:00Z" : instant(startedMs + offsetMs);
  return [
    level,
    flow.schema,
    String(queue),
    String(place),
    flow.distinguisher,
    instant(arrivedMs + offsetMs),
    String(work.initialSeats),
    String(work.finalSeats),
    duration(work.afterMs),
    started,
  ];
}

const detailHeads = ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];

function detailCells({ details: { user, info } }: SeatRequest): string[] {
  return [user.username, info.verb, info.path, info.namespace, info.name, info.version, info.resource, info.subresource];
}

/** With nine places, as a clock of nanoseconds has them. */
function instant(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000000Z");
}

function duration(ms: number): string {
  return ms === 0 ? "0s" : `${Number(ms.toFixed(6))}ms`;
}

const narrowest = 8;

/** Cells with a comma behind them, the last one without, in columns. */
function table(rows: readonly (readonly string[])[]): ApiResponse {
  const cells = rows.map((row) => row.map((cell, index) => `${cell.replace(/[\u0000-\u001f]/g, " ")}${index === row.length - 1 ? "" : ","}`));
  const widths = cells[0]!.map((_, column) => Math.max(narrowest, ...cells.map((row) => (row[column] ?? "").length + 1)));
  const lines = cells.map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!))).join(""));
  return bytesResponse(200, "text/plain; charset=utf-8", `${lines.join("\n")}\n`);
}
