/** How many seeds a simulation runs: `few` in `npm test`, CORACLE_SEEDS in `npm run simulate`. */
export function seedsOr(few: number): number {
  return Number(process.env["CORACLE_SEEDS"] ?? few);
}

/** The seeds of a simulation: as many as `seedsOr` says, from CORACLE_FIRST_SEED (1) on. */
export function seedList(few: number): readonly number[] {
  const first = Number(process.env["CORACLE_FIRST_SEED"] ?? 1);
  return Array.from({ length: seedsOr(few) }, (_, index) => first + index);
}
