/**
 * Operators of others, unmodified: their programs are built from Go's proxy, their charts installed without pods, and the programs run on this
 * machine in place of the pods, each as its service account and behind its Service.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { helmPath, whyNoHelm } from "./helm.ts";
import { Instance, Session, whyNoProgram } from "./instance.ts";

const execute = promisify(execFile);

/** EndpointSlices take no loopback address. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

/** Why operators cannot run here, or undefined. */
export async function whyNoOperators(): Promise<string | undefined> {
  return (await whyNoProgram("go")) ?? whyNoHelm ?? (address === undefined ? "needs an address other than loopback" : undefined);
}

interface HostOptions {
  readonly port: number;
  readonly kubeletPort: number;
  readonly namespace: string;
  /** Of `coracle up`. */
  readonly args?: readonly string[];
}

export class OperatorHost implements AsyncDisposable {
  readonly instance: Instance;
  readonly folder = mkdtempSync(path.join(tmpdir(), "coracle-operator-"));
  readonly #programs = path.join(this.folder, "programs");
  readonly #namespace: string;
  readonly #running: Session[] = [];

  private constructor(instance: Instance, namespace: string) {
    this.instance = instance;
    this.#namespace = namespace;
  }

  /** A cluster of simulated nodes, unless `args` say otherwise; the operator lives in `namespace`. */
  static async create(options: HostOptions): Promise<OperatorHost> {
    const instance = await Instance.create();
    const args = options.args ?? ["--runtime", "simulated"];
    await instance.start({ args: ["--port", String(options.port), `--kubelet.port=${options.kubeletPort}`, "--store", "memory", ...args] });
    return new OperatorHost(instance, options.namespace);
  }

  /**
   * `go install` of programs of MODULE@VERSION, from within its sources, since a module with replacements is not installed from afar. Returns
   * the folder of the sources, which is read-only. The first time takes minutes.
   */
  async goInstall(module: string, ...packages: string[]): Promise<string> {
    const env = { ...process.env, GOBIN: this.#programs, GOWORK: "off" };
    const { Dir } = JSON.parse(execFileSync("go", ["mod", "download", "-json", module], { cwd: this.folder, env, encoding: "utf8" })) as { Dir: string };
    await execute("go", ["install", ...packages], { cwd: Dir, env, maxBuffer: 16 << 20 });
    return Dir;
  }

  /** A copy of a folder of the sources that may be changed. */
  copy(folder: string): string {
    const copy = path.join(this.folder, "copies", path.basename(folder));
    cpSync(folder, copy, { recursive: true });
    chmodSync(copy, 0o755);
    for (const entry of globSync("**", { cwd: copy, withFileTypes: true }))
      chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
    return copy;
  }

  /** Installs a chart in the operator's namespace. */
  async helmInstall(release: string, chart: string, settings: readonly string[]): Promise<void> {
    const args = ["install", release, chart, "--namespace", this.#namespace, "--create-namespace", "--set", settings.join(",")];
    await execute(helmPath(), args, { env: { ...process.env, KUBECONFIG: path.join(this.instance.dataDir, "kubeconfig"), HELM_CACHE_HOME: this.folder } });
  }

  /** Where the kubeconfig of a program stands once it runs. */
  kubeconfigOf(program: string): string {
    return path.join(this.folder, `${program}.kubeconfig`);
  }

  /** Starts an installed program as a service account. */
  async run(program: string, serviceAccount: string, args: readonly string[]): Promise<Session> {
    const token = await this.instance.kubectl("create", "token", serviceAccount, "--namespace", this.#namespace);
    const config = load(readFileSync(path.join(this.instance.dataDir, "kubeconfig"), "utf8")) as { users: { user: object }[] };
    config.users[0]!.user = { token };
    const kubeconfig = this.kubeconfigOf(program);
    writeFileSync(kubeconfig, JSON.stringify(config));
    const env = { ...process.env, POD_NAMESPACE: this.#namespace };
    const session = new Session(spawn(path.join(this.#programs, program), ["--kubeconfig", kubeconfig, ...args], { cwd: this.folder, env }));
    this.#running.push(session);
    return session;
  }

  /** Makes a port of this machine the endpoint of a Service, whose selector finds nothing. */
  async publish(service: string, name: string, port: number): Promise<void> {
    await this.instance.apply({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: `${service}-host`, namespace: this.#namespace, labels: { "kubernetes.io/service-name": service } },
      addressType: "IPv4",
      ports: [{ name, port, protocol: "TCP" }],
      endpoints: [{ addresses: [address!], conditions: { ready: true } }],
    });
  }

  /** What the programs said last, for the message of a test that fails. */
  get logs(): string {
    return this.#running.map(({ output }) => output.slice(-4000)).join("\n----\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((session) => session[Symbol.asyncDispose]()));
    await this.instance[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
