/** Images from archives into containerd's `k8s.io` namespace, and the images we build ourselves. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Programs } from "../../host/programs.ts";
import type { ImageService } from "../runtime/cri.ts";
import type { Image } from "../runtime/cri-messages.ts";
import { builtinImages } from "./builtin-images.ts";
import type { Busybox } from "./builtin-images.ts";
import { buildOciArchive } from "./oci-archive.ts";
import type { ImageContent } from "./oci-archive.ts";

export interface ImageLoader {
  /** Imports an archive (OCI layout or `docker save`); returns the names it held. Rejects with `ImageLoadError`. */
  loadImage(archivePath: string): Promise<string[]>;
  /** Builds and imports an image. */
  buildImage(image: ImageContent): Promise<void>;
  listImages(): Promise<readonly Image[]>;
  /** False when there was no such image. */
  removeImage(name: string): Promise<boolean>;
  /** Builds and imports those of our own images that are not there. `busyboxPath`: a static busybox. */
  ensureBuiltinImages(busyboxPath?: string): Promise<void>;
}

export class ImageLoadError extends Error {
  override name = "ImageLoadError";
}

export interface ImageLoaderOptions {
  readonly programs: Programs;
  readonly images: ImageService;
  readonly clock: Clock;
  readonly socketPath: string;
  readonly snapshotter?: string;
  readonly ctrPath?: string;
}

export function createImageLoader(options: ImageLoaderOptions): ImageLoader {
  const buildImage = async (image: ImageContent) => {
    const directory = await mkdtemp(join(tmpdir(), "coracle-image-"));
    try {
      const archivePath = join(directory, "image.tar");
      await writeFile(archivePath, buildOciArchive(image));
      await importArchive(archivePath, options);
      await awaitImage(image.name, options);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };
  return {
    loadImage: (archivePath) => importArchive(archivePath, options),
    buildImage,
    listImages: () => options.images.listImages(),
    removeImage: async (name) => {
      if ((await options.images.imageStatus({ image: name })) === undefined) return false;
      await options.images.removeImage({ image: name });
      return true;
    },
    ensureBuiltinImages: async (busyboxPath) => {
      const present = new Set((await options.images.listImages()).flatMap((image) => image.repo_tags));
      const names = builtinImages({ data: Buffer.alloc(0), applets: [] }).map((image) => image.name);
      if (names.every((name) => present.has(name))) return;
      const busybox = await readBusybox(options.programs, busyboxPath);
      for (const image of builtinImages(busybox)) if (!present.has(image.name)) await buildImage(image);
    },
  };
}

/** Debian's busybox-static puts it at the default path. */
export async function readBusybox(programs: Programs, path = "/bin/busybox"): Promise<Busybox> {
  const data = await readFile(path).catch((cause: unknown) => {
    throw new ImageLoadError(`no static busybox at ${path}: install the package busybox-static`, { cause });
  });
  const listed = await programs.run({ command: path, args: ["--list"] });
  return {
    data,
    applets: listed.stdout
      .toString()
      .split("\n")
      .filter((name) => name !== ""),
  };
}

async function importArchive(archivePath: string, options: ImageLoaderOptions): Promise<string[]> {
  const snapshotter = options.snapshotter === undefined ? [] : ["--snapshotter", options.snapshotter];
  const args = ["--address", options.socketPath, "--namespace", "k8s.io", "images", "import", ...snapshotter, archivePath];
  const result = await options.programs.run({ command: options.ctrPath ?? "ctr", args, timeoutMs: 600_000 });
  if (result.exitCode !== 0) throw new ImageLoadError(`${archivePath}: ${result.stderr.toString().trim()}`);
  const names = [...result.stdout.toString().matchAll(/^unpacking (\S+) \(/gm)].map((match) => match[1]!);
  await Promise.all(names.map((name) => awaitImage(name, options)));
  return names;
}

/** CRI learns of an import by an event, so it shows the image a moment later. */
async function awaitImage(name: string, { images, clock }: ImageLoaderOptions): Promise<void> {
  for (let delayMs = 5; delayMs < 5000; delayMs *= 2) {
    if ((await images.imageStatus({ image: name })) !== undefined) return;
    await sleep(clock, delayMs);
  }
  throw new ImageLoadError(`${name} was imported, but the container runtime does not show it`);
}
