/** How much work a request will make: seats for lists by the number of objects, and what a write costs when many watch (KEP-1040, "width"). */
import type { WorkEstimate } from "./queues/seat-request.ts";

/** Objects that one seat stands for in a list. */
const objectsPerSeat = 100;
/** No request takes more. */
const mostSeats = 10;
/** Part of a level's seats that one request may take. */
const largestPart = 0.15;
const watchesPerSeat = 10;
/** How long a seat is kept to tell its watches. */
const tellingMs = 5;

const oneSeat: WorkEstimate = { initialSeats: 1, finalSeats: 0, afterMs: 0 };

/** What is asked for, as far as it matters for its cost. */
export interface WorkQuestion {
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly query: URLSearchParams;
  /** Objects stored of the resource. */
  readonly objects: () => number;
  /** Watches that are told of a change. */
  readonly watches: () => number;
}

/** `nominalSeats` are those of the request's level. */
export function estimateWork(question: WorkQuestion, nominalSeats: number): WorkEstimate {
  switch (question.verb) {
    case "list":
      return listWork(question, nominalSeats);
    case "watch":
      return beginsWithList(question.query) ? listWork(question, nominalSeats) : oneSeat;
    case "create":
    case "update":
    case "patch":
    case "delete":
      return writeWork(question, nominalSeats);
    default:
      return oneSeat;
  }
}

function listWork({ name, query, objects }: WorkQuestion, nominalSeats: number): WorkEstimate {
  if (name !== "") return oneSeat;
  const total = objects();
  const limit = Number(query.get("limit") ?? "");
  // With a selector all objects are looked at, whatever the limit.
  const seesAll = query.has("labelSelector") || query.has("fieldSelector");
  const looked = limit > 0 && !seesAll ? Math.min(limit, total) : total;
  const seats = Math.max(1, Math.ceil(looked / objectsPerSeat));
  return seats === 1 ? oneSeat : { ...oneSeat, initialSeats: Math.min(seats, mostSeatsOf(nominalSeats)) };
}

function writeWork({ resource, subresource, watches }: WorkQuestion, nominalSeats: number): WorkEstimate {
  // A token is stored nowhere.
  if (resource === "serviceaccounts" && subresource === "token") return oneSeat;
  const count = watches();
  if (count < watchesPerSeat / 2) return oneSeat;
  const wanted = Math.ceil(count / watchesPerSeat);
  const finalSeats = Math.min(wanted, mostSeatsOf(nominalSeats));
  // The work stays what it is when it has fewer seats: it takes longer.
  return { initialSeats: 1, finalSeats, afterMs: (tellingMs * wanted) / finalSeats };
}

function mostSeatsOf(nominalSeats: number): number {
  return Math.min(mostSeats, Math.max(1, Math.ceil(nominalSeats * largestPart)));
}

function beginsWithList(query: URLSearchParams): boolean {
  return query.get("sendInitialEvents") === "true" || query.get("resourceVersion") === "0" || (query.get("resourceVersion") ?? "") === "";
}
