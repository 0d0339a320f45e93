/** What `/version` says: the release of Kubernetes that is spoken, and what it was built with (API type version.Info). Clients parse these. */
export const kubernetesVersion = "v1.37.2";

export const versionInfo = {
  major: "1",
  minor: "37",
  emulationMajor: "1",
  emulationMinor: "37",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "36",
  gitVersion: kubernetesVersion,
  gitCommit: "$Format:%H$",
  gitTreeState: "clean",
  buildDate: "2026-10-14T00:00:00Z",
  goVersion: "go1.26.8",
  compiler: "gc",
  platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
} as const;
