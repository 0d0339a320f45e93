/** What the operator knows of the instance in a pod, and tells it. The agent beside PostgreSQL answers; nothing here speaks HTTP. */

export const postgresPort = 5432;
export const agentPort = 8008;

/**
 * - empty: no data yet
 * - stopped: there is data, and the server waits for orders (an instance never starts by itself: its primary may be another by now)
 * - primary, standby
 * - detached: a standby that follows nobody, so that no transaction can be acknowledged by it any more
 * - busy: on its way from one to another
 */
export type Mode = "empty" | "stopped" | "primary" | "standby" | "detached" | "busy";

export interface AgentState {
  readonly mode: Mode;
  /** The newest term it was given an order of. */
  readonly term: number;
  /** Where its log ends, on stable storage: the timeline, and the position on it. */
  readonly timeline: number;
  readonly position: number;
  /** Of a standby: whom it follows. */
  readonly following?: string;
  /** Of a primary: who must have a transaction before it is acknowledged, and since which position that holds. */
  readonly requires?: readonly string[];
  readonly requiresSince?: number;
  /** Of a primary: how far each standby that streams has the log on stable storage. */
  readonly standbys?: Readonly<Record<string, number>>;
  /** Backups that this instance made, or makes. */
  readonly backups: Readonly<Record<string, { readonly phase: "Running" | "Done" | "Failed"; readonly size?: number }>>;
}

/** Each can be repeated; one of an older term than the instance knows is refused. */
export type Order =
  | { readonly kind: "initialize"; readonly term: number; readonly backup?: string }
  /** Become the primary, or start as it again. */
  | { readonly kind: "promote"; readonly term: number; readonly requires: readonly string[] }
  /** Become a standby, with the primary's data if its own leads elsewhere. */
  | { readonly kind: "follow"; readonly term: number; readonly primary: string; readonly host: string }
  | { readonly kind: "detach"; readonly term: number }
  /** Who must have each transaction from now on: at most one of these. */
  | { readonly kind: "require"; readonly term: number; readonly requires: readonly string[] }
  | { readonly kind: "backup"; readonly term: number; readonly backup: string };

export interface Instance {
  readonly namespace: string;
  readonly pod: string;
  readonly podIP: string;
}

/**
 * `at` is the time of the operator's pass. An agent remembers the newest `at` it heard, also of a question, and refuses orders with an older
 * one: an order that was delayed on its way cannot undo what a later pass has seen and relied on.
 */
export interface Agents {
  /** Undefined when it does not answer in `timeoutMs`. */
  state(instance: Instance, at: number, limit: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<AgentState | undefined>;
  /** Rejects when the order did not arrive, or was refused for its term or its time. */
  send(instance: Instance, order: Order, at: number, signal: AbortSignal): Promise<void>;
}
