import type { ServerSettings } from "../../server-state.ts";

/** What `/version` says: the release of Kubernetes that is spoken, and what it was built with (API type version.Info). Clients parse these. */
export const kubernetesVersion = "v1.37.2";

export const versionInfo = {
  major: "1",
  minor: "37",
  gitVersion: kubernetesVersion,
  gitCommit: "$Format:%H$",
  gitTreeState: "clean",
  buildDate: "2026-10-14T00:00:00Z",
  goVersion: "go1.26.8",
  compiler: "gc",
  platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
} as const;

/** The whole answer: the release above, the one that is emulated, and the oldest one that may run beside it. */
export function versionDocument({ emulatedVersion, minCompatibilityVersion }: ServerSettings) {
  const { major, minor, ...rest } = versionInfo;
  const [emulationMajor, emulationMinor] = emulatedVersion.split(".");
  const [minCompatibilityMajor, minCompatibilityMinor] = minCompatibilityVersion.split(".");
  return { major, minor, emulationMajor, emulationMinor, minCompatibilityMajor, minCompatibilityMinor, ...rest };
}
