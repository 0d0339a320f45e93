/** One state of one key: the unit of multi-version storage. Newer versions of a key point at the one before. */
export interface Version {
  readonly key: string;
  /** The bytes; undefined when only the checkpoint holds them. For a deletion: the last value before it. */
  value: Uint8Array | undefined;
  readonly valueBytes: number;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly isDeleted: boolean;
  /** Wall-clock time in ms at which the key is deleted; 0: never. */
  readonly expiresAtMs: number;
  /** The version that this one replaced, as long as history reaches back to it. */
  previous: Version | undefined;
}

/** The state of a key at `revision`, given its newest version: undefined when it was absent. */
export function versionAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest;
  while (version !== undefined && version.modRevision > revision) version = version.previous;
  return version === undefined || version.isDeleted ? undefined : version;
}

/**
 * A string whose order by UTF-16 code units is the order of `key` by its UTF-8 bytes, which is what Kubernetes lists by: the key itself
 * when it is ASCII (nearly always), else one code unit per byte.
 */
export function sortKey(key: string): string {
  return isAscii.test(key) ? key : Buffer.from(key, "utf8").toString("latin1");
}

const isAscii = /^[\x00-\x7f]*$/;
