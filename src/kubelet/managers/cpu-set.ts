/** Sets of CPUs as the kernel writes them (`0-3,8`; cpuset(7), "List format"): sorted numbers here. Pure. */
export type CpuSet = readonly number[];

/** Throws an Error for a text that is no list. */
export function parseCpuSet(text: string): CpuSet {
  const cpus = new Set<number>();
  for (const part of text
    .trim()
    .split(",")
    .filter((item) => item !== "")) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    const [first, last] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
    if (match === null || last < first || last >= maxCpus) throw new Error(`not a list of CPUs: ${JSON.stringify(text)}`);
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return sorted(cpus);
}

export function formatCpuSet(cpus: CpuSet): string {
  const ranges: [number, number][] = [];
  for (const cpu of cpus) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === cpu - 1) last[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(",");
}

export const union = (a: CpuSet, b: CpuSet): CpuSet => sorted(new Set([...a, ...b]));
export const without = (a: CpuSet, b: CpuSet): CpuSet => a.filter((cpu) => !b.includes(cpu));
export const intersection = (a: CpuSet, b: CpuSet): CpuSet => a.filter((cpu) => b.includes(cpu));

const sorted = (cpus: Iterable<number>) => [...cpus].toSorted((a, b) => a - b);

/** More than any machine has; keeps a mistyped range from filling memory. */
const maxCpus = 65_536;
