/** Volumes out of directories of this machine, and the StorageClass that everybody gets unless they name another. */
export { localDirectories, noDirectories } from "./directories.ts";
export type { VolumeDirectories } from "./directories.ts";
export { createProvisioner, provisionerRules } from "./provisioner.ts";
export type { ProvisionerOptions } from "./provisioner.ts";
