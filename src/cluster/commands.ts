/** The commands of `coracle`, by name. Each is loaded when it is run. */

export interface Command {
  /** One line for `coracle help`. */
  readonly summary: string;
  /** `words` begin with the command's name. Throws UsageError, or an Error whose message says what failed and what to do. */
  run(words: readonly string[]): Promise<void>;
}

export const commands: Readonly<Record<string, Command>> = {
  up: {
    summary: "everything in one process",
    async run(words) {
      const [{ parseArguments }, { readUpOptions, upOptionTable }, { runUp }] = await Promise.all([import("./arguments.ts"), import("./up-options.ts"), import("./up.ts")]);
      await runUp(readUpOptions(parseArguments(words, upOptionTable)));
    },
  },
  version: {
    summary: "the version, and the Kubernetes version spoken",
    async run() {
      const { versionInfo } = await import("../apiserver/handlers/version.ts");
      process.stdout.write(`coracle 0.1.0 (Kubernetes ${versionInfo.gitVersion})\n`);
    },
  },
  help: {
    summary: "this list",
    async run() {
      const lines = Object.entries(commands).map(([name, command]) => `  ${name.padEnd(20)}${command.summary}`);
      process.stdout.write(`coracle COMMAND [OPTIONS]\n\n${lines.join("\n")}\n`);
    },
  },
};
