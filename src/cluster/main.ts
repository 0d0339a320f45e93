/** Entry of the `coracle` command: picks the command, turns failures into one line and an exit code (1 failed, 2 wrong usage). */
import { commands } from "./commands/commands.ts";
import type { Command } from "./commands/commands.ts";
import { UsageError } from "./commands/arguments.ts";
import { describeSystemError } from "./system-error.ts";

async function main(words: readonly string[]): Promise<number> {
  const [first = "help"] = words;
  const name = first === "--help" || first === "-h" ? "help" : first;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (command === undefined) throw new UsageError(`unknown command ${JSON.stringify(name)}: \`coracle help\` lists them`);
    return (await (asksForHelp(words, command) ? commands["help"]!.run(["help", name]) : command.run(words))) ?? 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`coracle: ${describeSystemError(error) ?? (error instanceof Error ? error.message : String(error))}\n`);
    if (!isUsage && process.env["CORACLE_DEBUG"] !== undefined && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return isUsage ? 2 : 1;
  }
}

/** Whether `--help` is among our own options. Where another program's command line follows, only the first word can be. */
function asksForHelp(words: readonly string[], { takesCommand = false }: Command): boolean {
  return words.slice(1, takesCommand ? 2 : undefined).some((word) => word === "--help" || word === "-h");
}

// Where the system's programs (nft, runc, ip) lie; the PATH that `su` or a service gives may leave them out.
process.env["PATH"] = [process.env["PATH"], "/usr/local/sbin", "/usr/sbin", "/sbin"].filter(Boolean).join(":");
process.exitCode = await main(process.argv.slice(2));
// Sockets of clients that did not close must not hold up the end.
process.exit();
