/** Prometheus' text of samples that are made anew for each answer, with their own times (text exposition format 0.0.4). Pure. */

export interface SampleFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly atMs?: number;
}

/** Families in order of their names; those without samples are left out. */
export function exposition(families: readonly SampleFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, help, type, samples }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map((sample) => line(name, sample)).join("")}`)
    .join("");
}

function line(name: string, { labels, value, atMs }: Sample): string {
  const pairs = Object.keys(labels)
    .toSorted()
    .map((label) => `${label}="${escaped(labels[label]!)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}${atMs === undefined ? "" : ` ${Math.trunc(atMs)}`}\n`;
}

const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
