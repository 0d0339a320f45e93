/**
 * Signals of this process, for a program that it runs: each is handed to the program, which decides what becomes of it. Before there is
 * a program the first one is remembered.
 */
import { readFileSync } from "node:fs";
import type { ChildProcess } from "node:child_process";

const relayed = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"] as const;
type Relayed = (typeof relayed)[number];
/** What a terminal sends to every process of its foreground group, the program included. */
const fromTerminal: ReadonlySet<Relayed> = new Set(["SIGINT", "SIGQUIT"]);

export class SignalRelay implements Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  #received: Relayed | undefined;
  #program: ChildProcess | undefined;
  readonly #onSignal: (name: Relayed) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.first = promise;
    this.#onSignal = (name) => {
      this.#received ??= name;
      resolve();
      if (this.#program !== undefined && !(fromTerminal.has(name) && isInForeground())) this.#program.kill(name);
    };
    for (const name of relayed) process.on(name, this.#onSignal);
  }

  /** The first signal so far. */
  get received(): NodeJS.Signals | undefined {
    return this.#received;
  }

  /** From now on signals go to `program`. */
  relayTo(program: ChildProcess): void {
    this.#program = program;
  }

  [Symbol.dispose](): void {
    for (const name of relayed) process.off(name, this.#onSignal);
  }
}

/** Whether this process is in the foreground group of a terminal (proc_pid_stat(5), fields 5 and 8). */
function isInForeground(): boolean {
  const text = readFileSync("/proc/self/stat", "latin1");
  const [, , group, , , foregroundGroup] = text.slice(text.lastIndexOf(")") + 1).split(" ");
  return group === foregroundGroup;
}
