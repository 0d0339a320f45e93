/** One request as a priority level sees it. The queue set owns the mutable members. */
export class SeatRequest {
  readonly flow: FlowName;
  readonly work: WorkEstimate;
  readonly arrivedMs: number;
  /** What dumps tell of it. */
  readonly details: RequestDetails;
  /** `new` → waiting or executing or refused; waiting → executing (a seat came free) or gone (given up); executing → done. */
  state: "new" | "waiting" | "executing" | "done" = "new";
  startedMs = 0;
  /** The virtual time at which it came. */
  arrivedR = 0;
  queue: FairQueue | undefined;
  /** Called when its turn comes; set by whoever waits. */
  onStart: (() => void) | undefined;
  /** Called when it is its turn and too few seats are free. */
  onUnaccommodated: (() => void) | undefined;

  constructor(flow: FlowName, work: WorkEstimate, given: { readonly arrivedMs: number; readonly details: RequestDetails }) {
    this.flow = flow;
    this.work = work;
    this.arrivedMs = given.arrivedMs;
    this.details = given.details;
  }

  /** Seats while it executes. */
  get seats(): number {
    return Math.max(this.work.initialSeats, this.work.finalSeats);
  }
}

export interface FlowName {
  readonly schema: string;
  readonly distinguisher: string;
}

export interface WorkEstimate {
  readonly initialSeats: number;
  /** Seats that its consequences hold for `afterMs` when it was answered. */
  readonly finalSeats: number;
  readonly afterMs: number;
}

/** Who asks for what. */
export interface RequestDetails {
  readonly user: { readonly username: string };
  readonly info: {
    readonly verb: string;
    readonly path: string;
    readonly namespace: string;
    readonly name: string;
    readonly version: string;
    readonly resource: string;
    readonly subresource: string;
  };
}

/** One queue of a level; the virtual world's bookkeeping stands with it. */
export interface FairQueue {
  readonly index: number;
  readonly waiting: SeatRequest[];
  readonly executing: Set<SeatRequest>;
  /** Virtual time at which its next request starts. */
  nextDispatchR: number;
  seatsInUse: number;
  /** Seat-seconds of what waits. */
  waitingWork: number;
}

/** What a request is thought to take before it is known, in seconds (KEP-1040: the guess G). */
export const guessedSeconds = 0.003;

/** Seat-seconds. */
export function workOf({ initialSeats, finalSeats, afterMs }: WorkEstimate): number {
  return initialSeats * guessedSeconds + (finalSeats * afterMs) / 1000;
}
