/** How a volume that cannot be set up is told of. Pure. */
import type { VolumeFault } from "./pod-storage.ts";
import { NotAttachedError, VolumeError } from "./volume.ts";
import type { ResolvedVolume } from "./volume.ts";

export function volumeFault({ name, specName }: ResolvedVolume, error: unknown): VolumeFault {
  if (error instanceof NotAttachedError) return { volume: name, isUnattached: true };
  const { operation, eventReason: reason } = error instanceof VolumeError ? error : new VolumeError("");
  return {
    volume: name,
    event: { reason, message: `${operation} failed for volume ${JSON.stringify(specName)} : ${error instanceof Error ? error.message : String(error)}` },
  };
}

/** What pods hear while they cannot start for their volumes: each list in order. */
export function waitingMessage(
  lists: { readonly unmounted: readonly string[]; readonly unattached: readonly string[]; readonly unprocessed: readonly string[] },
  why: string,
): string {
  const text = (names: readonly string[]) => `[${names.toSorted().join(" ")}]`;
  return `Unable to attach or mount volumes: unmounted volumes=${text(lists.unmounted)}, unattached volumes=${text(lists.unattached)}, failed to process volumes=${text(lists.unprocessed)}: ${why}`;
}
