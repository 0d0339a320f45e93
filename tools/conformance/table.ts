/** docs/conformance.md as data, and what may be wrong with it. Pure. */

/** What a row names: a recording, or a test by its file and a text in it. */
export type Evidence = { readonly kind: "recording"; readonly file: string } | { readonly kind: "test"; readonly file: string; readonly name: string };

export interface Row {
  /** The heading above it, as `[sig-node]`. */
  readonly section: string;
  readonly name: string;
  readonly evidence: readonly Evidence[];
  /** The word that says what is missing, in a row without evidence. */
  readonly missing?: string;
  /** The row's second cell as it stands. */
  readonly cell: string;
}

/** Where rows are looked up. */
export interface Surroundings {
  /** Names as upstream lists them (`[sig-node] … [Conformance] …`); absent: they are not beside the repository. */
  readonly names?: readonly string[];
  /** Text of a file of the repository; undefined when there is none. */
  readonly text: (file: string) => string | undefined;
  /** Whether there is a recording `AREA/FILE.json`; undefined when recordings are not beside the repository. */
  readonly hasRecording: (file: string) => boolean | undefined;
  /** Recordings (`AREA/FILE.json`) that do not stand whole. */
  readonly partial: ReadonlySet<string>;
}

/** The rows of the table, in order. Lines that are no rows are passed over. */
export function readTable(markdown: string): Row[] {
  const rows: Row[] = [];
  let section = "";
  for (const line of markdown.split("\n")) {
    const heading = /^## .*(\[sig-[\w-]+\])$/.exec(line);
    if (heading !== null) section = heading[1]!;
    const cells = /^\| (.+) \| (.+) \|$/.exec(line);
    if (cells !== null && section !== "" && cells[1] !== "Conformance test") rows.push(readRow(section, cells[1]!, cells[2]!));
  }
  return rows;
}

/** What is wrong with the rows, a line each. */
export function faultsOf(rows: readonly Row[], surroundings: Surroundings): string[] {
  const { names } = surroundings;
  return [
    ...(names === undefined ? [] : nameFaults(rows, names)),
    ...rows.flatMap((row) => rowFaults(row, surroundings).map((fault) => `${row.section} ${row.name}: ${fault}`)),
  ];
}

/** A line per section and one for all: how many names there are, how many are shown, how many are not yet. */
export function countsOf(rows: readonly Row[]): string[] {
  const sections = new Set(rows.map(({ section }) => section));
  const line = (title: string, counted: readonly Row[]) => {
    const shown = counted.filter(({ evidence }) => evidence.length > 0).length;
    return `${title}: ${counted.length} names, ${shown} shown, ${counted.length - shown} not yet`;
  };
  return [
    ...[...sections].map((section) =>
      line(
        section,
        rows.filter((row) => row.section === section),
      ),
    ),
    line("all", rows),
  ];
}

function readRow(section: string, name: string, cell: string): Row {
  const missing = /^not yet: ([\w-]+)$/.exec(cell)?.[1];
  const evidence = missing === undefined ? cell.split("<br>").flatMap(readEvidence) : [];
  return { section, name, cell, evidence, ...(missing !== undefined && { missing }) };
}

function readEvidence(text: string): Evidence[] {
  const recording = /^`golden\/([\w-]+\/[\w-]+\.json)`$/.exec(text);
  if (recording !== null) return [{ kind: "recording", file: recording[1]! }];
  const test = /^`([^`]+)` › `([^`]+)`$/.exec(text);
  return test === null ? [] : [{ kind: "test", file: test[1]!, name: test[2]! }];
}

function nameFaults(rows: readonly Row[], names: readonly string[]): string[] {
  const wanted = new Set(names.map((name) => name.replace(" [Conformance]", "")));
  const seen = new Map<string, number>();
  for (const { section, name } of rows) seen.set(`${section} ${name}`, (seen.get(`${section} ${name}`) ?? 0) + 1);
  return [
    ...[...wanted].filter((name) => !seen.has(name)).map((name) => `${name}: is not in the table`),
    ...[...seen].filter(([name]) => !wanted.has(name)).map(([name]) => `${name}: is no conformance test`),
    ...[...seen].filter(([, times]) => times > 1).map(([name, times]) => `${name}: is in the table ${times} times`),
  ];
}

function rowFaults({ cell, evidence, missing }: Row, surroundings: Surroundings): string[] {
  const parts = missing === undefined ? cell.split("<br>").length : 0;
  if (parts !== evidence.length) return [`cannot be read: ${cell}`];
  return evidence.flatMap((one) => {
    const fault = evidenceFault(one, surroundings);
    return fault === undefined ? [] : [fault];
  });
}

function evidenceFault(evidence: Evidence, { text, hasRecording, partial }: Surroundings): string | undefined {
  const { file } = evidence;
  if (evidence.kind === "recording") {
    if (partial.has(file)) return `golden/${file} does not stand whole`;
    return hasRecording(file) === false ? `there is no golden/${file}` : undefined;
  }
  const found = text(file);
  if (found === undefined) return `there is no ${file}`;
  return found.includes(evidence.name) ? undefined : `${file} has no "${evidence.name}"`;
}
