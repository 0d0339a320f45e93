/** The real world as options: clock, randomness and log of a process. */
import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import type { Log } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import type { Random } from "../base/random.ts";

export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** For commands that do their work and end: their timers keep the process alive, their log shows only what went wrong. */
export function commandEnvironment(): Environment {
  const clock = systemClock({ keepAlive: true });
  return { clock, random: systemRandom(), log: createLog({ level: "warn", write: (line) => process.stderr.write(`${line}\n`), nowMs: () => clock.nowMs() }) };
}

/** `isVerbose` shows debug lines; all lines go to standard error. */
export function realEnvironment(isVerbose: boolean): Environment {
  const clock = systemClock();
  return { clock, random: systemRandom(), log: createLog({ level: isVerbose ? "debug" : "info", write: (line) => process.stderr.write(`${line}\n`), nowMs: () => clock.nowMs() }) };
}
