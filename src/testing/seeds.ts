/** How many seeds a simulation runs: `few` in `npm test`, CORACLE_SEEDS in `npm run simulate`. */
export function seedsOr(few: number): number {
  return Number(process.env["CORACLE_SEEDS"] ?? few);
}
