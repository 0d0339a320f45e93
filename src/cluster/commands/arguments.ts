/** The command line as data: a command, options of ours, and flags passed on to components (`--apiserver.FLAG=value`). */

export interface Arguments {
  readonly command: string;
  readonly operands: readonly string[];
  /** Options of ours by name; a repeated option keeps its last value. */
  readonly options: ReadonlyMap<string, string>;
  /** Flags of a component, by component: `apiserver` → `authorization-mode` → values in order. */
  readonly flags: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
}

/** A wrong command line: exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
  readonly reason = "Usage";
}

/** Which options a command knows; `boolean` ones take no value. */
export type OptionTable = Readonly<Record<string, "value" | "boolean">>;

const components = new Set(["apiserver", "controllers", "scheduler", "kubelet", "proxy", "dns"]);

/** Reads the words behind the command's name. Throws UsageError. */
export function parseArguments(words: readonly string[], table: OptionTable, { component, takesCommand = false }: ParseOptions = {}): Arguments {
  const [command = "", ...rest] = words;
  const operands: string[] = [];
  const options = new Map<string, string>();
  const flags = new Map<string, Map<string, string[]>>();
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index]!;
    const isOperand = !word.startsWith("-") || word === "-";
    if (word === "--" || (isOperand && takesCommand)) {
      operands.push(...rest.slice(word === "--" ? index + 1 : index));
      break;
    }
    if (isOperand) {
      operands.push(word);
      continue;
    }
    const option = splitOption(word);
    const flag = flagOf(option.name, table, component);
    if (flag !== undefined) {
      const ofComponent = flags.get(flag.component) ?? new Map<string, string[]>();
      ofComponent.set(flag.name, [...(ofComponent.get(flag.name) ?? []), option.value ?? "true"]);
      flags.set(flag.component, ofComponent);
      continue;
    }
    const kind = Object.hasOwn(table, option.name) ? table[option.name] : undefined;
    if (kind === undefined) throw new UsageError(`unknown option ${word.split("=")[0]}: \`coracle help ${command}\` lists them`);
    if (kind === "boolean") options.set(option.name, option.value ?? "true");
    else {
      const value = option.value ?? rest[++index];
      // (A value that begins so is given as --name=value.)
      if (value === undefined || (option.value === undefined && value.startsWith("--"))) throw new UsageError(`option --${option.name} wants a value`);
      options.set(option.name, value);
    }
  }
  return { command, operands, options, flags };
}

export interface ParseOptions {
  /** Options that are not ours are this component's flags (`coracle scheduler --leader-elect=false`). */
  readonly component?: string;
  /** From the first operand on all words are operands: another program's command line. */
  readonly takesCommand?: boolean;
}

/** The component and flag that an option names; undefined for options of ours. */
function flagOf(option: string, table: OptionTable, own: string | undefined): { component: string; name: string } | undefined {
  const dot = option.indexOf(".");
  if (dot > 0 && components.has(option.slice(0, dot))) return { component: option.slice(0, dot), name: option.slice(dot + 1) };
  return own === undefined || Object.hasOwn(table, option) ? undefined : { component: own, name: option };
}

function splitOption(word: string): { name: string; value: string | undefined } {
  const body = word.replace(/^--?/, "");
  const equals = body.indexOf("=");
  return equals < 0 ? { name: body, value: undefined } : { name: body.slice(0, equals), value: body.slice(equals + 1) };
}
