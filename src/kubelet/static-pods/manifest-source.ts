/**
 * The manifests of a directory, a file or an address. `changes` gives all of them, first when they were read and again whenever something is
 * different; a manifest that cannot be read is told of and left out, an address that does not answer leaves what was.
 */
import { watch } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { basename, join } from "node:path";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { Manifest } from "./static-pod.ts";

export interface ManifestSourceOptions {
  readonly settings: KubeletSettings;
  readonly clock: Clock;
  readonly log: Log;
}

export async function* fileManifests({ settings, clock, log }: ManifestSourceOptions, signal: AbortSignal): AsyncGenerator<readonly Manifest[]> {
  const { staticPodPath, fileCheckMs } = settings;
  let before: string | undefined;
  while (!signal.aborted) {
    // Watched before it is read, so that no change falls between.
    const changed = changeOf(staticPodPath);
    try {
      const manifests = await readPath(staticPodPath, log);
      const now = fingerprint(manifests);
      if (now !== before) yield manifests;
      before = now;
    } catch (error) {
      log.warn("Could not read static pods", { path: staticPodPath, error });
    }
    const woken = new AbortController();
    await Promise.race([changed.happened, sleep(clock, fileCheckMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined)]);
    woken.abort();
    changed.close();
  }
}

export async function* urlManifests({ settings, clock, log }: ManifestSourceOptions, signal: AbortSignal): AsyncGenerator<readonly Manifest[]> {
  const { staticPodURL, staticPodURLHeader, httpCheckMs } = settings;
  let before: string | undefined;
  while (!signal.aborted) {
    try {
      const manifests: Manifest[] = [{ bytes: await fetchManifest(staticPodURL, staticPodURLHeader, signal), origin: staticPodURL, source: "http" }];
      const now = fingerprint(manifests);
      if (now !== before) yield manifests;
      before = now;
    } catch (error) {
      if (!signal.aborted) log.warn("Could not fetch static pods", { url: staticPodURL, error });
    }
    await sleep(clock, httpCheckMs, signal).catch(() => undefined);
  }
}

/** Names that begin with a dot are not read, as in a directory that is being written. */
async function readPath(path: string, log: Log): Promise<Manifest[]> {
  const status = await stat(path);
  const names = status.isDirectory() ? (await readdir(path)).filter((name) => !name.startsWith(".")).toSorted() : [basename(path)];
  const files = names.map((name) => (status.isDirectory() ? join(path, name) : path));
  const manifests: Manifest[] = [];
  for (const origin of files.slice(0, maxManifests)) {
    const file = await stat(origin).catch(() => undefined);
    if (file?.isFile() !== true) continue;
    if (file.size > maxManifestBytes) log.warn("A static pod's file is too large", { path: origin, bytes: file.size });
    else manifests.push({ bytes: await readFile(origin), origin, source: "file" });
  }
  return manifests;
}

const maxManifests = 1000;
const maxManifestBytes = 10 * 1024 * 1024;

function fingerprint(manifests: readonly Manifest[]): string {
  return JSON.stringify(manifests.map(({ origin, bytes }) => [origin, Buffer.from(bytes).toString("base64")]));
}

/** Resolves at the next change; where watching is impossible, never. */
function changeOf(path: string): { happened: Promise<void>; close(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  try {
    const watcher = watch(path, { persistent: false }, () => resolve());
    watcher.on("error", () => undefined);
    return { happened: promise, close: () => watcher.close() };
  } catch {
    return { happened: promise, close: () => undefined };
  }
}

function fetchManifest(url: string, headers: Readonly<Record<string, readonly string[]>>, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const sent = send(
      url,
      { signal, timeout: fetchTimeoutMs, headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]])) },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > maxManifestBytes) sent.destroy(new Error(`${url} answers with more than ${maxManifestBytes} bytes`));
          else chunks.push(chunk);
        });
        response.on("error", reject);
        response.on("end", () => {
          if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`));
          else if (size === 0) reject(new Error(`zero-length data received from ${url}`));
          else resolve(Buffer.concat(chunks));
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error(`${url} does not answer in time`)));
    sent.on("error", reject);
    sent.end();
  });
}

const fetchTimeoutMs = 10_000;
