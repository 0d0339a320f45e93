/** Times of a cron schedule: minute hour day-of-month month day-of-week, in UTC. */

/** The first time after `afterMs`, in ms; undefined when there is none within a year. Throws a RangeError when it is no schedule. */
export function nextRunMs(schedule: string, afterMs: number): number | undefined {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) throw new RangeError(`${JSON.stringify(schedule)} is no schedule: it takes five fields`);
  const [minutes, hours, days, months, weekdays] = fields.map((field, index) => valuesOf(field, limits[index]!, schedule)) as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  // As cron has it: when both are restricted, either day will do.
  const isAnyDay = fields[2] === "*" || fields[4] === "*";
  for (let ms = Math.floor(afterMs / minuteMs + 1) * minuteMs; ms <= afterMs + yearMs;) {
    const at = new Date(ms);
    const [inDays, inWeekdays] = [days.has(at.getUTCDate()), weekdays.has(at.getUTCDay())];
    if (!months.has(at.getUTCMonth() + 1) || !(isAnyDay ? inDays && inWeekdays : inDays || inWeekdays)) ms = (Math.floor(ms / dayMs) + 1) * dayMs;
    else if (!hours.has(at.getUTCHours())) ms = (Math.floor(ms / hourMs) + 1) * hourMs;
    else if (!minutes.has(at.getUTCMinutes())) ms += minuteMs;
    else return ms;
  }
  return undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const yearMs = 366 * dayMs;
const limits: readonly (readonly [number, number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
];

/** `*`, `5`, `1-5`, `1,15` and any of them with a step: `0-30/10`. */
function valuesOf(field: string, [least, most]: readonly [number, number], schedule: string): Set<number> {
  const values = new Set<number>();
  for (const part of field.split(",")) {
    const match = /^(\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
    const from = match?.[2] === undefined ? least : Number(match[2]);
    const to = match?.[3] !== undefined ? Number(match[3]) : match?.[2] === undefined || match[4] !== undefined ? most : from;
    const step = Number(match?.[4] ?? 1);
    if (match === null || from < least || to > most || from > to || step === 0)
      throw new RangeError(`${JSON.stringify(schedule)} is no schedule: ${JSON.stringify(part)} is not in ${least}-${most}`);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}
