/** OCI image archives (image-spec v1.1, image layout in a tar) from files in memory. Plain tar layers: nothing depends on a compressor. */
import { createHash } from "node:crypto";
import { writeTar } from "./tar.ts";
import type { TarEntry } from "./tar.ts";

export interface ImageContent {
  /** The full reference, such as `coracle.local/hello:v1`. */
  readonly name: string;
  readonly layers: readonly (readonly TarEntry[])[];
  readonly config: ImageConfig;
}

/** As the image specification spells it. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly WorkingDir?: string;
  readonly User?: string;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly StopSignal?: string;
}

export function buildOciArchive(image: ImageContent): Buffer {
  const { manifest, blobs } = imageBlobs(image);
  const annotations = { "io.containerd.image.name": image.name, "org.opencontainers.image.ref.name": image.name.split(":").at(-1) };
  const files: TarEntry[] = [
    { type: "file", path: "oci-layout", data: json({ imageLayoutVersion: "1.0.0" }) },
    { type: "file", path: "index.json", data: json({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }) },
    { type: "directory", path: "blobs" },
    { type: "directory", path: "blobs/sha256" },
  ];
  for (const [digest, data] of blobs) files.push({ type: "file", path: `blobs/sha256/${digest.slice("sha256:".length)}`, data });
  return writeTar(files);
}

export interface BlobDescriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** What a registry or a layout holds of an image: everything by its digest (`sha256:…`), and which of it is the manifest. */
export function imageBlobs(image: ImageContent): { readonly manifest: BlobDescriptor; readonly blobs: ReadonlyMap<string, Buffer> } {
  const blobs = new Map<string, Buffer>();
  const add = (mediaType: string, data: Buffer): BlobDescriptor => {
    const digest = `sha256:${sha256(data)}`;
    blobs.set(digest, data);
    return { mediaType, digest, size: data.length };
  };
  const layers = image.layers.map((entries) => add("application/vnd.oci.image.layer.v1.tar", writeTar(entries)));
  const config = add(
    "application/vnd.oci.image.config.v1+json",
    json({
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config: image.config,
      rootfs: { type: "layers", diff_ids: layers.map((layer) => layer.digest) },
    }),
  );
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  return { manifest: add(mediaType, json({ schemaVersion: 2, mediaType, config, layers })), blobs };
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function sha256(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
