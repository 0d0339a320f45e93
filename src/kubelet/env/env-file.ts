/**
 * Files of variables that containers write for others of their pod (API field `fileKeyRef`, KEP 3721): lines `NAME='value'` as every POSIX
 * shell reads them; what stands between the quotes is taken as it is, over several lines if need be. Blank lines and lines that begin with
 * `#` count for nothing; of two lines for one name the last counts. Pure.
 */
import { ConfigError } from "./config-error.ts";

export const maxEnvFileBytes = 64 * 1024;

/** Throws `ConfigError`, naming the line. */
export function parseEnvFile(text: string): Map<string, string> {
  const variables = new Map<string, string>();
  let rest = text;
  let line = 1;
  while (rest !== "") {
    const match = blank.exec(rest) ?? variable.exec(rest);
    if (match === null) throw new ConfigError(`line ${line} of the env file is not of the form NAME='value'`);
    const [whole, name, value] = match;
    if (name !== undefined) variables.set(name, value!);
    line += whole.split("\n").length - 1;
    rest = rest.slice(whole.length);
  }
  return variables;
}

const blank = /^[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/;
const variable = /^[ \t]*([^\s='"#][^\s='"]*)='([^']*)'[ \t]*(?:\r?\n|$)/;
