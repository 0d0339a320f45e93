/** What `/version` says: the Kubernetes version spoken (API type version.Info). */
export const kubernetesVersion = "v1.37.2";

export const versionInfo = {
  major: "1",
  minor: "37",
  emulationMajor: "1",
  emulationMinor: "37",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "36",
  gitVersion: kubernetesVersion,
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "",
  goVersion: "",
  compiler: "gc",
  platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
} as const;
