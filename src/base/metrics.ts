/**
 * Metrics as Prometheus reads them: counters, gauges and histograms with labels, printed in the text exposition format 0.0.4.
 * A registry belongs to one component; there is no global one. Label values are given in the order in which the names were declared.
 */

export class MetricRegistry {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return this.#family(name, () => new Counter(name, help, labels));
  }

  gauge(name: string, help: string, labels: readonly string[] = []): Gauge {
    return this.#family(name, () => new Gauge(name, help, labels));
  }

  /** `buckets` are upper bounds in rising order, without infinity. */
  histogram(name: string, help: string, buckets: readonly number[], labels: readonly string[] = []): Histogram {
    return this.#family(name, () => new Histogram(name, help, buckets, labels));
  }

  /** The text exposition, families in order of their names. */
  text(): string {
    const names = [...this.#families.keys()].sort();
    return names.map((name) => this.#families.get(name)!.text()).join("");
  }

  /** The same name gives the same family, so that two users of one metric share it. */
  #family<F extends Family>(name: string, make: () => F): F {
    const known = this.#families.get(name);
    if (known !== undefined) return known as F;
    const made = make();
    this.#families.set(name, made);
    return made;
  }
}

interface Family {
  text(): string;
}

/** A number that only grows. */
export class Counter implements Family {
  readonly #series: Series<{ value: number }>;

  constructor(name: string, help: string, labels: readonly string[]) {
    this.#series = new Series({ name, help, type: "counter", labels }, () => ({ value: 0 }));
  }

  add(amount: number, ...labelValues: string[]): void {
    this.#series.of(labelValues).value += amount;
  }

  value(...labelValues: string[]): number {
    return this.#series.of(labelValues).value;
  }

  /** The number of one series, for hot paths: adding to `value` needs no look-up. */
  series(...labelValues: string[]): { value: number } {
    return this.#series.of(labelValues);
  }

  text(): string {
    return this.#series.text((labels, state) => this.#series.line("", labels, state.value));
  }
}

/** A number that goes up and down. */
export class Gauge implements Family {
  readonly #series: Series<{ value: number }>;

  constructor(name: string, help: string, labels: readonly string[]) {
    this.#series = new Series({ name, help, type: "gauge", labels }, () => ({ value: 0 }));
  }

  /** The number of one series, for hot paths. */
  series(...labelValues: string[]): { value: number } {
    return this.#series.of(labelValues);
  }

  set(value: number, ...labelValues: string[]): void {
    this.#series.of(labelValues).value = value;
  }

  /** Sets one series and forgets all others: for labels that tell what is in force. */
  setOnly(value: number, ...labelValues: string[]): void {
    this.#series.clear();
    this.set(value, ...labelValues);
  }

  add(amount: number, ...labelValues: string[]): void {
    this.#series.of(labelValues).value += amount;
  }

  value(...labelValues: string[]): number {
    return this.#series.of(labelValues).value;
  }

  /** Forgets all series, for a gauge that is filled anew by looking. */
  clear(): void {
    this.#series.clear();
  }

  text(): string {
    return this.#series.text((labels, state) => this.#series.line("", labels, state.value));
  }
}

/** Counts of observations by upper bound, with their sum. */
export class Histogram implements Family {
  readonly #buckets: readonly number[];
  readonly #series: Series<{ counts: number[]; count: number; sum: number }>;

  constructor(name: string, help: string, buckets: readonly number[], labels: readonly string[]) {
    this.#buckets = buckets;
    this.#series = new Series({ name, help, type: "histogram", labels }, () => ({ counts: buckets.map(() => 0), count: 0, sum: 0 }));
  }

  observe(value: number, ...labelValues: string[]): void {
    this.#observe(this.#series.of(labelValues), value);
  }

  #observe(state: { counts: number[]; count: number; sum: number }, value: number, times = 1): void {
    let index = 0;
    while (index < this.#buckets.length && value > this.#buckets[index]!) index++;
    if (index < this.#buckets.length) state.counts[index]! += times;
    state.count += times;
    state.sum += value * times;
  }

  /** One series, for hot paths: observing needs no look-up. What was seen several times counts as often. */
  series(...labelValues: string[]): { observe(value: number, times?: number): void } {
    const state = this.#series.of(labelValues);
    return { observe: (value, times) => this.#observe(state, value, times) };
  }

  text(): string {
    return this.#series.text((labels, state) => {
      let cumulative = 0;
      const lines = this.#buckets.map((bound, index) => {
        cumulative += state.counts[index]!;
        return this.#series.line("_bucket", labels, cumulative, ["le", String(bound)]);
      });
      lines.push(this.#series.line("_bucket", labels, state.count, ["le", "+Inf"]));
      return lines.join("") + this.#series.line("_sum", labels, state.sum) + this.#series.line("_count", labels, state.count);
    });
  }
}

/** `count` bounds, each `factor` times the one before, from `start`. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number((start * factor ** index).toPrecision(12)));
}

interface Head {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** The states of one family, by label values. */
class Series<State> {
  readonly #head: Head;
  readonly #make: () => State;
  readonly #states = new Map<string, { values: readonly string[]; state: State }>();

  constructor(head: Head, make: () => State) {
    this.#head = head;
    this.#make = make;
  }

  of(values: readonly string[]): State {
    const key = values.join("\u0000");
    let entry = this.#states.get(key);
    if (entry === undefined) this.#states.set(key, (entry = { values, state: this.#make() }));
    return entry.state;
  }

  clear(): void {
    this.#states.clear();
  }

  text(lines: (values: readonly string[], state: State) => string): string {
    const { name, help, type } = this.#head;
    const escaped = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
    let text = `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`;
    for (const key of [...this.#states.keys()].sort()) {
      const { values, state } = this.#states.get(key)!;
      text += lines(values, state);
    }
    return text;
  }

  line(suffix: string, values: readonly string[], value: number, extra?: readonly [name: string, value: string]): string {
    const pairs = this.#head.labels.map((label, index): readonly [string, string] => [label, values[index] ?? ""]);
    if (extra !== undefined) pairs.push(extra);
    const labels = pairs.map(([label, text]) => `${label}="${escapeLabel(text)}"`).join(",");
    return `${this.#head.name}${suffix}${labels === "" ? "" : `{${labels}}`} ${formatNumber(value)}\n`;
  }
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}
