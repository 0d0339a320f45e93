// `npm run image`: the product as an OCI image, dist/image/coracle.tar, for `docker load`, `podman load`, `coracle image load`.
//
// No registry is asked: the base is a static busybox, the pinned Node, and the shared libraries that it names, all of this machine.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { busyboxImage } from "../src/kubelet/images/builtin-images.ts";
import { buildOciArchive } from "../src/kubelet/images/oci-archive.ts";
import type { TarEntry } from "../src/kubelet/images/tar.ts";

const root = path.dirname(import.meta.dirname);
const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
const name = `coracle.local/coracle:${version}`;
const target = path.join(root, "dist", "image", "coracle.tar");
const home = "opt/coracle";

execFileSync(process.execPath, [path.join(root, "tools", "build.ts")], { stdio: "inherit" });
const base = busyboxImage(name, readBusybox());
const layers = [base.layers[0]!, nodeLayer(), productLayer()].map(withParents);
const image = buildOciArchive({
  name,
  layers,
  config: {
    Entrypoint: ["/usr/local/bin/node", "--max-semi-space-size=16", `/${home}/dist/coracle.mjs`],
    Cmd: [
      "up",
      "--data-dir",
      "/data",
      "--store",
      "memory",
      "--runtime",
      "simulated",
      "--node-name",
      "node",
      "--components",
      "apiserver,controllers,scheduler,kubelet",
    ],
    Env: [`PATH=/usr/local/bin:/usr/bin:/bin:/${home}/bin`],
    ExposedPorts: { "6443/tcp": {} },
    StopSignal: "SIGTERM",
  },
});
mkdirSync(path.dirname(target), { recursive: true });
writeFileSync(target, image);
console.log(
  `${name}: ${path.relative(process.cwd(), target)} (${(image.length / 1024 / 1024).toFixed(0)} MiB)\n\n  docker load -i ${path.relative(process.cwd(), target)}`,
);

function readBusybox() {
  const file = ["/bin/busybox", "/usr/bin/busybox"].find((candidate) => existsSync(candidate) && librariesOf(candidate).length === 0);
  if (file === undefined) stop("The image needs a static busybox: install Debian's package busybox-static.");
  return { data: readFileSync(file), applets: execFileSync(file, ["--list"], { encoding: "utf8" }).trim().split("\n") };
}

/** The pinned Node at /usr/local/bin/node, and its libraries where it looks for them. */
function nodeLayer(): TarEntry[] {
  const program = realpathSync(path.join(root, "node_modules", ".bin", "node"));
  const lmdb = globSync(path.join(root, "node_modules/@lmdb/*/node.napi.glibc.node"));
  const libraries = new Set([program, ...lmdb].flatMap(librariesOf));
  return [fileEntry(program, "usr/local/bin/node"), ...[...libraries].map((library) => fileEntry(library, library.slice(1)))];
}

/** What a program or library loads, by the names under which it asks for it; nothing for a static one. */
function librariesOf(file: string): string[] {
  try {
    const text = execFileSync("ldd", [file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return [...text.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, library]) => library!);
  } catch {
    // ldd ends with 1 when it is not a dynamic executable.
    return [];
  }
}

/** The bundles, the commands, and the one package that is not in the bundles, with what it depends on. */
function productLayer(): TarEntry[] {
  const product = globSync(["dist/*.mjs", "dist/*.js", "dist/*.json", "bin/**", "package.json", "LICENSE", "NOTICE"], { cwd: root });
  const packages = dependenciesOf("lmdb", new Set()).flatMap((dependency) => globSync(`node_modules/${dependency}/**/*`, { cwd: root }));
  return [...product, ...packages]
    .filter((file) => statSync(path.join(root, file)).isFile())
    .map((file) => fileEntry(path.join(root, file), `${home}/${file}`));
}

function dependenciesOf(dependency: string, known: Set<string>): string[] {
  const file = path.join(root, "node_modules", dependency, "package.json");
  // Optional ones are there for this platform alone.
  if (known.has(dependency) || !existsSync(file)) return [...known];
  known.add(dependency);
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(file, "utf8")) as { dependencies?: object; optionalDependencies?: object };
  for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) dependenciesOf(next, known);
  return [...known];
}

function fileEntry(file: string, at: string): TarEntry {
  return { type: "file", path: at, data: readFileSync(file), mode: (statSync(file).mode & 0o111) === 0 ? 0o644 : 0o755 };
}

/** Every file's directories before it. */
function withParents(entries: readonly TarEntry[]): TarEntry[] {
  const known = new Set(entries.filter(({ type }) => type === "directory").map((entry) => entry.path));
  return entries.flatMap((entry) => {
    const parts = entry.path.split("/").slice(0, -1);
    const parents = parts.map((_, index) => parts.slice(0, index + 1).join("/")).filter((parent) => !known.has(parent));
    for (const parent of parents) known.add(parent);
    return [...parents.map((parent): TarEntry => ({ type: "directory", path: parent })), entry];
  });
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}
