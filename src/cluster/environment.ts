/** The real world as options: clock, randomness and log of a process. */
import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import type { Log, LogLevel } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import type { Random } from "../base/random.ts";

export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** From this number on debug lines are logged, below it what was asked for at the start. */
  setVerbosity(level: number): void;
}

/** As in Kubernetes' components: what is worth knowing while looking for a fault. */
const debugVerbosity = 4;

/** For commands that do their work and end: their timers keep the process alive, their log shows only what went wrong. */
export function commandEnvironment(): Environment {
  return environment("warn", systemClock({ keepAlive: true }));
}

/** For what runs until a signal. `isVerbose` shows debug lines; all lines go to standard error. */
export function realEnvironment(isVerbose: boolean): Environment {
  return environment(isVerbose ? "debug" : "info", systemClock());
}

/** For a cluster beside another program, whose output it must not disturb: only errors, unless `isVerbose`. */
export function quietEnvironment(isVerbose: boolean): Environment {
  return environment(isVerbose ? "debug" : "error", systemClock({ keepAlive: true }));
}

function environment(level: LogLevel, clock: Clock): Environment {
  let current = level;
  return {
    clock,
    random: systemRandom(),
    log: createLog({ level: () => current, write: (line) => process.stderr.write(`${line}\n`), nowMs: () => clock.nowMs() }),
    setVerbosity: (verbosity) => (current = verbosity >= debugVerbosity ? "debug" : level),
  };
}
