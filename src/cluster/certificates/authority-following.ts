/** Authorities in use, followed by what is trusted after them: long before a successor signs it is in the bundle, so that looking now and then is enough. */
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { TaskGroup } from "../../base/task-group.ts";

/** Gives the bundle (PEM) to trust now. */
export type AuthoritySource = () => Promise<string>;

export interface FollowAuthorityOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Who trusts it; for the log. */
  readonly name: string;
  /** The bundle that is in use. */
  readonly current: string;
  readonly source: AuthoritySource;
  readonly onNew: (bundle: string) => void | Promise<void>;
}

const lookMs = 12 * 3_600_000;

/** Hands each new bundle over until disposed of. What fails is told and tried again. */
export function followAuthority(options: FollowAuthorityOptions): AsyncDisposable {
  const group = new TaskGroup();
  group.start(`authority of ${options.name}`, (signal) => follow(options, signal));
  return { [Symbol.asyncDispose]: () => group.close() };
}

async function follow({ clock, log, name, current, source, onNew }: FollowAuthorityOptions, signal: AbortSignal): Promise<void> {
  for (let used = current; ;) {
    await sleep(clock, lookMs, signal);
    try {
      const next = await source();
      if (next === used) continue;
      await onNew(next);
      used = next;
      log.info("Took over authorities", { name });
    } catch (error) {
      log.warn("Could not take over authorities", { name, error });
    }
  }
}

interface AuthorityTools extends Pick<FollowAuthorityOptions, "clock" | "log" | "name"> {
  readonly certificates: { authority(): Promise<string> };
}

/** Does `work` with the bundle to trust, and begins it anew with each one that follows, until `signal` aborts. */
export async function withAuthority(
  { certificates, ...tools }: AuthorityTools,
  signal: AbortSignal,
  work: (bundle: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    const current = await certificates.authority();
    const changed = new AbortController();
    const onAbort = () => changed.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    await using _following = followAuthority({
      ...tools,
      current,
      source: () => certificates.authority(),
      onNew: () => changed.abort(new Error("other authorities are to be trusted")),
    });
    try {
      await work(current, changed.signal);
      if (!changed.signal.aborted) return;
    } catch (error) {
      if (!changed.signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
