/** The configuration of a containerd of our own (containerd 1.6 and 1.7: config version 2), as TOML. Pure. */

export interface ContainerdConfig {
  readonly socketPath: string;
  readonly rootDirectory: string;
  readonly stateDirectory: string;
  readonly sandboxImage: string;
  readonly snapshotter: string;
  readonly cniBinDirectory: string;
  readonly cniConfDirectory: string;
  /** hosts.toml files per registry, as containerd's documentation describes. */
  readonly registryConfigDirectory: string;
  /** Without CAP_SYS_RESOURCE no process may lower its oom_score_adj below its parent's, and containers would fail to start. */
  readonly restrictOomScoreAdj: boolean;
}

export function containerdToml(config: ContainerdConfig): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return toml([
    ["", { version: 2, root: config.rootDirectory, state: config.stateDirectory, disabled_plugins: unusedPlugins }],
    ["grpc", { address: config.socketPath }],
    ["debug", { level: "warn" }],
    // Its default is a directory of the machine's.
    ['plugins."io.containerd.internal.v1.opt"', { path: `${config.rootDirectory}/opt` }],
    [
      cri,
      {
        sandbox_image: config.sandboxImage,
        restrict_oom_score_adj: config.restrictOomScoreAdj,
        // Network namespaces are mounted under our state, where a reset finds them.
        netns_mounts_under_state_dir: true,
        stream_server_address: "127.0.0.1",
        stream_server_port: "0",
      },
    ],
    [`${cri}.containerd`, { snapshotter: config.snapshotter, default_runtime_name: "runc" }],
    [`${cri}.containerd.runtimes.runc`, { runtime_type: "io.containerd.runc.v2" }],
    [`${cri}.cni`, { bin_dir: config.cniBinDirectory, conf_dir: config.cniConfDirectory }],
    [`${cri}.registry`, { config_path: config.registryConfigDirectory }],
  ]);
}

/** Snapshotters that need devices or file systems we do not set up; each would log an error at start. */
const unusedPlugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.internal.v1.tracing",
];

type Section = readonly [name: string, values: Readonly<Record<string, string | number | boolean | readonly string[]>>];

/** JSON's strings, numbers, booleans and lists of strings are TOML's, too. */
function toml(sections: readonly Section[]): string {
  return sections
    .map(([name, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
      return `${name === "" ? "" : `[${name}]\n`}${lines.join("")}`;
    })
    .join("\n");
}
