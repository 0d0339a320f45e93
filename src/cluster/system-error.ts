/** What the system refused, in words that say what to do; undefined for errors that are not the system's about a file or an address. */
export function describeSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  const { code } = error;
  if ("path" in error && typeof error.path === "string") {
    const meaning = ofFiles[code];
    return meaning === undefined ? undefined : `cannot use ${error.path} (${meaning.what}): ${meaning.advice}`;
  }
  // What is written through an open file has no path.
  if (code === "ENOSPC" || code === "EDQUOT") return `${ofFiles[code]!.what}: ${ofFiles[code]!.advice}`;
  if ("address" in error && code === "EADDRNOTAVAIL") return `${String(error.address)} is no address of this machine: choose one that is with --bind-address`;
  return undefined;
}

const elsewhere = "choose another directory with --data-dir";
const ofFiles: Readonly<Record<string, { readonly what: string; readonly advice: string }>> = {
  EACCES: { what: "permission denied", advice: `run this as its owner, or ${elsewhere}` },
  EPERM: { what: "operation not permitted", advice: `run this as its owner, or ${elsewhere}` },
  EROFS: { what: "the file system is read-only", advice: elsewhere },
  EEXIST: { what: "a file is in the way", advice: elsewhere },
  ENOTDIR: { what: "a file is in the way", advice: elsewhere },
  ENOSPC: { what: "no space is left", advice: `make room, or ${elsewhere}` },
  EDQUOT: { what: "the user's quota is used up", advice: `make room, or ${elsewhere}` },
};
