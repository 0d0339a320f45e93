/** A point of a utilization shape: `utilization` in percent, `score` 0 to 10. */
export interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

/** The score, 0 to 100, at a utilization in percent: straight lines between the points, flat outside of them. */
export function piecewise(shape: readonly ShapePoint[]): (utilization: number) => number {
  const points = shape.map(({ utilization, score }) => ({ at: utilization, score: score * 10 }));
  return (utilization) => {
    for (const [index, point] of points.entries()) {
      if (utilization > point.at) continue;
      const before = points[index - 1];
      if (before === undefined) return point.score;
      return before.score + Math.trunc(((point.score - before.score) * (utilization - before.at)) / (point.at - before.at));
    }
    return points.at(-1)?.score ?? 0;
  };
}
