/**
 * Resource versions compared. They are opaque to users, but a server of this version promises that they are decimal numbers that grow
 * (KEP-5504), whatever their length.
 */

/** Negative when `left` is older, 0 when equal, positive when newer. Absent and `""` are older than all. */
export function compareResourceVersions(left: string | undefined, right: string | undefined): number {
  const a = left ?? "";
  const b = right ?? "";
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
