/** Debian's `docker-registry` on loopback for a test: with or without TLS and a password; and pushing images to it. */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { readFileSync } from "node:fs";
import { busyboxImage } from "../../src/kubelet/index.ts";
import { imageBlobs } from "../../src/kubelet/images/oci-archive.ts";
import type { ImageContent } from "../../src/kubelet/images/oci-archive.ts";
import { until } from "./instance.ts";

const execute = promisify(execFile);
export const registryUser = { username: "puller", password: "secret" };
/** The password's bcrypt hash, as htpasswd makes it. */
const htpasswd = `${registryUser.username}:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n`;

export interface RegistryOptions {
  readonly folder: string;
  /** Serves TLS with a certificate of an authority of its own, and wants `registryUser`. */
  readonly isSecure?: boolean;
}

export class Registry implements AsyncDisposable {
  /** Such as `127.0.0.1:5000`. */
  readonly host: string;
  /** Of the authority; absent without TLS. */
  readonly caPath: string | undefined;
  readonly #configPath: string;
  #process: ChildProcess | undefined;

  private constructor(host: string, configPath: string, caPath: string | undefined) {
    this.host = host;
    this.caPath = caPath;
    this.#configPath = configPath;
  }

  static async start({ folder, isSecure = false }: RegistryOptions): Promise<Registry> {
    await mkdir(folder, { recursive: true });
    const host = `127.0.0.1:${await freePort()}`;
    const config: Record<string, unknown> = {
      version: "0.1",
      log: { level: "error" },
      storage: { filesystem: { rootdirectory: path.join(folder, "storage") }, delete: { enabled: true } },
      http: { addr: host, ...(isSecure && { tls: { certificate: path.join(folder, "tls.crt"), key: path.join(folder, "tls.key") } }) },
      ...(isSecure && { auth: { htpasswd: { realm: "registry", path: path.join(folder, "htpasswd") } } }),
    };
    if (isSecure) {
      await writeFile(path.join(folder, "htpasswd"), htpasswd);
      const subject = ["-subj", "/CN=registry", "-addext", "subjectAltName=IP:127.0.0.1"];
      const files = ["-keyout", path.join(folder, "tls.key"), "-out", path.join(folder, "tls.crt")];
      await execute("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", ...subject, ...files]);
    }
    const configPath = path.join(folder, "config.yml");
    await writeFile(configPath, JSON.stringify(config));
    const registry = new Registry(host, configPath, isSecure ? path.join(folder, "tls.crt") : undefined);
    await registry.resume();
    return registry;
  }

  /** Starts it; resolves when it answers. */
  async resume(): Promise<void> {
    this.#process = spawn("docker-registry", ["serve", this.#configPath], { stdio: "ignore" });
    await until(
      () =>
        this.#ask("GET", "/v2/").then(
          ({ status }) => (status === 200 ? true : undefined),
          () => undefined,
        ),
      `a registry at ${this.host}`,
    );
  }

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined) return;
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill();
    await ended;
  }

  /** Returns the manifest's digest. */
  async push(image: ImageContent): Promise<string> {
    const [repository, tag] = image.name.slice(this.host.length + 1).split(":");
    const { manifest, blobs } = imageBlobs(image);
    for (const [digest, data] of blobs) {
      if (digest === manifest.digest) continue;
      const { location } = await this.#ask("POST", `/v2/${repository}/blobs/uploads/`);
      await this.#must(201, "PUT", `${location}&digest=${digest}`, data, "application/octet-stream");
    }
    await this.#must(201, "PUT", `/v2/${repository}/manifests/${tag}`, blobs.get(manifest.digest)!, manifest.mediaType);
    return manifest.digest;
  }

  /** A busybox under the registry's name. */
  async pushBusybox(name: string): Promise<string> {
    const data = readFileSync("/bin/busybox");
    const { stdout } = await execute("/bin/busybox", ["--list"]);
    const image = `${this.host}/${name}`;
    await this.push(busyboxImage(image, { data, applets: stdout.split("\n").filter((word) => word !== "") }));
    return image;
  }

  async remove(name: string, digest: string): Promise<void> {
    await this.#must(202, "DELETE", `/v2/${name}/manifests/${digest}`);
  }

  async #must(wanted: number, ...asked: [method: string, target: string, data?: Uint8Array, contentType?: string]): Promise<void> {
    const { status, body } = await this.#ask(...asked);
    if (status !== wanted) throw new Error(`the registry answered ${status} to ${asked[0]} ${asked[1]}: ${body}`);
  }

  async #ask(method: string, target: string, data?: Uint8Array, contentType?: string): Promise<{ status: number; location: string; body: string }> {
    const url = new URL(target, `${this.caPath === undefined ? "http" : "https"}://${this.host}`);
    const authorization = `Basic ${Buffer.from(`${registryUser.username}:${registryUser.password}`).toString("base64")}`;
    const headers = { ...(contentType !== undefined && { "content-type": contentType }), ...(this.caPath !== undefined && { authorization }) };
    if (this.caPath === undefined) {
      const response = await fetch(url, { method, headers, ...(data !== undefined && { body: Buffer.from(data) }) });
      return { status: response.status, location: response.headers.get("location") ?? "", body: await response.text() };
    }
    const ca = await readFile(this.caPath);
    return new Promise((resolve, reject) => {
      const asked = request(url, { method, ca, headers: { ...headers, "content-length": data?.length ?? 0 } }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => (body += text));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? "", body }));
      });
      asked.on("error", reject);
      asked.end(data);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
