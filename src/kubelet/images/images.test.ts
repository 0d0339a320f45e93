import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { builtinImages } from "./builtin-images.ts";
import { parseImageName } from "./image-name.ts";
import { buildOciArchive } from "./oci-archive.ts";
import { writeTar } from "./tar.ts";

const names: [name: string, fullName: string][] = [
  ["nginx", "docker.io/library/nginx:latest"],
  ["nginx:1.29", "docker.io/library/nginx:1.29"],
  ["a/b", "docker.io/a/b:latest"],
  ["coracle.local/hello:v1", "coracle.local/hello:v1"],
  ["localhost/x", "localhost/x:latest"],
  ["127.0.0.1:1/none:v1", "127.0.0.1:1/none:v1"],
  [`nginx@sha256:${"a".repeat(64)}`, `docker.io/library/nginx@sha256:${"a".repeat(64)}`],
  ["Nginx", "! invalid reference format: repository name must be lowercase"],
  ["", "! invalid reference format"],
  ["a b", "! invalid reference format"],
  ["nginx:", "! invalid reference format"],
];
for (const [name, expected] of names) {
  test(`image name ${JSON.stringify(name)}`, () => {
    const parsed = parseImageName(name);
    assert.equal(parsed.isValid ? parsed.fullName : `! ${parsed.error}`, expected);
  });
}

test("a tar's header", () => {
  const tar = writeTar([
    { type: "file", path: "a", data: Buffer.from("hello"), mode: 0o755 },
    { type: "symlink", path: "b", target: "a" },
  ]);
  assert.equal(tar.length, 512 * 5);
  assert.equal(tar.subarray(0, 1).toString(), "a");
  assert.equal(tar.subarray(100, 107).toString(), "0000755");
  assert.equal(tar.subarray(512, 517).toString(), "hello");
  const unsummed = Buffer.from(tar.subarray(0, 512)).fill(" ", 148, 156);
  assert.equal(
    Number.parseInt(tar.subarray(148, 154).toString(), 8),
    unsummed.reduce((sum, byte) => sum + byte, 0),
  );
});

test("an archive's index leads to all its blobs, by their digests", () => {
  const archive = readTar(buildOciArchive(builtinImages({ data: Buffer.from("busybox"), applets: ["sh"] })[1]!));
  const blob = (digest: string) => {
    const data = archive.get(`blobs/${digest.replace(":", "/")}`)!;
    assert.equal(`sha256:${createHash("sha256").update(data).digest("hex")}`, digest);
    return data;
  };
  const index = JSON.parse(archive.get("index.json")!.toString());
  assert.equal(index.manifests[0].annotations["io.containerd.image.name"], "coracle.local/hello:v1");
  const manifest = JSON.parse(blob(index.manifests[0].digest).toString());
  const config = JSON.parse(blob(manifest.config.digest).toString());
  assert.deepEqual(config.config.Entrypoint, ["/bin/hello"]);
  const layers = manifest.layers.map((layer: { digest: string }) => readTar(blob(layer.digest)));
  assert.equal(layers[0].get("bin/busybox").toString(), "busybox");
  assert.equal(layers[1].has("bin/hello"), true);
});

function readTar(tar: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; tar[at] !== 0 && at < tar.length;) {
    const size = Number.parseInt(tar.subarray(at + 124, at + 135).toString(), 8);
    files.set(
      tar
        .subarray(at, at + 100)
        .toString()
        .replace(/\0.*$/s, ""),
      tar.subarray(at + 512, at + 512 + size),
    );
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
