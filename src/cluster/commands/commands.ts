/** The commands of `coracle`, by name. Each is loaded when it is run. */

export interface Command {
  /** One line for `coracle help`. */
  readonly summary: string;
  /** Its operands are another program's command line. */
  readonly takesCommand?: boolean;
  /** `words` begin with the command's name. Returns the exit code when it is not 0. Throws UsageError, or an Error whose message says what failed and what to do. */
  run(words: readonly string[]): Promise<number | void>;
}

/** Commands that run one component, and what that is called in `--components` and in `--COMPONENT.FLAG`. */
const componentCommands = {
  apiserver: { component: "apiserver", summary: "the API server alone" },
  "controller-manager": { component: "controllers", summary: "the controllers alone" },
  scheduler: { component: "scheduler", summary: "the scheduler alone" },
  kubelet: { component: "kubelet", summary: "a node alone (with its pod network)" },
  proxy: { component: "proxy", summary: "the Service proxy alone" },
  dns: { component: "dns", summary: "the cluster DNS alone" },
} as const;

export const commands: Readonly<Record<string, Command>> = {
  ...Object.fromEntries(
    Object.entries(componentCommands).map(([name, { component, summary }]) => [name, { summary, run: (words: readonly string[]) => runOne(component, words) }]),
  ),
  up: {
    summary: "everything in one process",
    async run(words) {
      const [{ parseArguments }, { readUpOptions, upOptionTable }, { runUp }] = await Promise.all([
        import("./arguments.ts"),
        import("./up-options.ts"),
        import("./up.ts"),
      ]);
      const parsed = parseArguments(words, upOptionTable);
      const options = readUpOptions(parsed);
      if (parsed.options.get("detach") === "true") {
        const { runDetached } = await import("./detach.ts");
        await runDetached(words, options);
      } else await runUp(options);
    },
  },
  test: {
    summary: "[--] CMD…: runs a command against a fresh cluster that is gone afterwards",
    takesCommand: true,
    async run(words) {
      const { runTest } = await import("../test-servers/test-command.ts");
      return runTest(words);
    },
  },
  "envtest-assets": {
    summary: "prints the folder for KUBEBUILDER_ASSETS",
    async run() {
      const { assetsDirectory } = await import("../test-servers/envtest-assets.ts");
      process.stdout.write(`${assetsDirectory()}\n`);
    },
  },
  "kube-apiserver": {
    summary: "upstream's command line, as envtest uses it",
    async run(words) {
      const { runKubeApiServer } = await import("../test-servers/kube-apiserver.ts");
      await runKubeApiServer(words);
    },
  },
  down: {
    summary: "stops what runs on the data directory, pods too",
    async run(words) {
      const { runDown } = await import("./down.ts");
      await runDown(words);
    },
  },
  reset: {
    summary: "stops it and removes all that was made",
    async run(words) {
      const { runReset } = await import("./down.ts");
      await runReset(words);
    },
  },
  status: {
    summary: "what runs on the data directory",
    async run(words) {
      const { runStatus } = await import("./status.ts");
      return runStatus(words);
    },
  },
  logs: {
    summary: "prints the log of a detached instance",
    async run(words) {
      const { runLogs } = await import("./detach.ts");
      await runLogs(words);
    },
  },
  node: {
    summary: "ls, add NAME, rm NAME, start NAME, stop NAME: further nodes of this machine",
    async run(words) {
      const { runNode } = await import("../nodes/node-command.ts");
      await runNode(words);
    },
  },
  token: {
    summary: "create, ls, rm ID: tokens with which other machines join",
    async run(words) {
      const { runToken } = await import("../joining/token-command.ts");
      await runToken(words);
    },
  },
  join: {
    summary: "SERVER --token TOKEN: this machine becomes a node of a cluster elsewhere",
    async run(words) {
      const { runJoin } = await import("../joining/join-command.ts");
      await runJoin(words);
    },
  },
  image: {
    summary: "load FILE, ls, rm NAME: images of the instance's containerd",
    async run(words) {
      const { runImage } = await import("./image.ts");
      await runImage(words);
    },
  },
  snapshot: {
    summary: "save FILE, restore FILE: the embedded store's content",
    async run(words) {
      const { runSnapshot } = await import("./snapshot.ts");
      await runSnapshot(words);
    },
  },
  kubeconfig: {
    summary: "prints the path of the admin's kubeconfig",
    async run(words) {
      const [{ dataDirectoryOf }, { join }] = await Promise.all([import("../files/data-directory.ts"), import("node:path")]);
      process.stdout.write(`${join(dataDirectoryOf(words), "kubeconfig")}\n`);
    },
  },
  version: {
    summary: "the version, and the Kubernetes version spoken",
    async run() {
      const { versionInfo } = await import("../../apiserver/handlers/paths/version.ts");
      process.stdout.write(`coracle 0.1.0 (Kubernetes ${versionInfo.gitVersion})\n`);
    },
  },
  help: {
    summary: "this list; with a COMMAND, its options",
    async run([, name]) {
      const { helpText } = await import("./help.ts");
      process.stdout.write(helpText(commands, name));
    },
  },
};

async function runOne(component: (typeof componentCommands)[keyof typeof componentCommands]["component"], words: readonly string[]): Promise<void> {
  const [{ parseArguments }, { readUpOptions, upOptionTable }] = await Promise.all([import("./arguments.ts"), import("./up-options.ts")]);
  const parsed = parseArguments(words, { ...upOptionTable, server: "value" }, { component });
  const options = readUpOptions(parsed);
  if (component === "apiserver") {
    const { runUp } = await import("./up.ts");
    await runUp({ ...options, components: new Set(["apiserver"]) });
    return;
  }
  const { runComponent } = await import("./run-component.ts");
  await runComponent({ ...options, components: new Set(component === "kubelet" ? ["network", "kubelet"] : [component]) }, parsed.options.get("server"));
}
