/** What runs in a test cluster beside its API server. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Transport, UserInfo } from "../apimachinery/request.ts";

/** Runs until the signal aborts and all its work has ended. */
export type ClusterComponent = (context: ComponentContext & { readonly signal: AbortSignal }) => Promise<void>;

/** What a component in a test's cluster has to work with. */
export interface ComponentContext {
  /** A transport into the API server under this identity. */
  readonly transportFor: (user: UserInfo) => Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
