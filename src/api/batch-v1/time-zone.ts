/** Names of time zones as the IANA database writes them. */

/** Whether the database has a zone or a link of exactly this name. */
export function isKnownTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  try {
    // Reading a name in another case works, but gives the database's spelling back.
    return new Temporal.ZonedDateTime(0n, name).timeZoneId === name;
  } catch {
    return false;
  }
}
