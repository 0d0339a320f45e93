/**
 * Certificates in use, followed by their successors without a restart. A source of pairs (`Certificates`, a file) gives the successor when
 * the one in use is late in its life; who cannot make one itself finds it in the store once others have put it there.
 */
import { formatTime } from "../../apimachinery/time.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { TaskGroup } from "../../base/task-group.ts";
import { lifeOf } from "./certificate-life.ts";
import type { KeyAndCertificate } from "./key-store.ts";

/** Gives the pair to use now. */
export type PairSource = () => Promise<KeyAndCertificate>;

/** A successor that is due and not there is looked for so often. */
const retryMs = 60_000;
/** No wait is longer: the clock may have been set, the machine may have slept. */
const longestWaitMs = 12 * 3_600_000;

/** The pair to use, asked for before each use: the source is asked once, and again from the time its successor is due. */
export function renewedPair(source: PairSource, clock: Clock): PairSource {
  let used: KeyAndCertificate | undefined;
  let lookMs = 0;
  let asking: Promise<KeyAndCertificate> | undefined;
  const ask = async () => {
    try {
      const next = await source();
      if (next.certificate !== used?.certificate) used = next;
    } catch (error) {
      // The one in use counts for some time yet.
      if (used === undefined) throw error;
    }
    lookMs = nextLookMs(used, clock.nowMs());
    return used;
  };
  return async () => {
    if (used !== undefined && clock.nowMs() < lookMs) return used;
    return (asking ??= ask().finally(() => (asking = undefined)));
  };
}

export interface FollowOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** For the log. */
  readonly name: string;
  /** The pair that is in use. */
  readonly current: KeyAndCertificate;
  readonly source: PairSource;
  readonly onNew: (pair: KeyAndCertificate) => void | Promise<void>;
}

/** Hands each successor over until disposed of. What fails is told and tried again. */
export function followPair(options: FollowOptions): AsyncDisposable {
  const group = new TaskGroup();
  group.start(`certificate ${options.name}`, (signal) => follow(options, signal));
  return { [Symbol.asyncDispose]: () => group.close() };
}

async function follow({ clock, log, name, current, source, onNew }: FollowOptions, signal: AbortSignal): Promise<void> {
  for (let used = current; ;) {
    await sleep(clock, Math.min(nextLookMs(used, clock.nowMs()) - clock.nowMs(), longestWaitMs), signal);
    if (clock.nowMs() < lifeOf(used.certificate).dueMs) continue;
    try {
      const next = await source();
      if (next.certificate === used.certificate) continue;
      await onNew(next);
      used = next;
      log.info("Renewed a certificate", { name, until: formatTime(lifeOf(next.certificate).endMs) });
    } catch (error) {
      log.warn("Could not renew a certificate", { name, error });
    }
  }
}

function nextLookMs({ certificate }: KeyAndCertificate, nowMs: number): number {
  return Math.max(lifeOf(certificate).dueMs, nowMs + retryMs);
}
