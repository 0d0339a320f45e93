// `npm pack` runs this first: the command (`tools/build.ts`), and beside it the libraries that the package exports, as JavaScript in dist/lib
// with their types in dist/types. Sources would not do: Node strips no types under node_modules.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { filesByUrl, requireBanner } from "./files-by-url.ts";

const root = path.dirname(import.meta.dirname);
const dist = path.join(root, "dist");
/** By the name of the export: `coracle/operator`. */
const entries = { operator: "src/operator/index.ts", client: "src/client/index.ts", testing: "src/testing/public.ts", scheduler: "src/scheduler/index.ts" };

run("tools/build.ts");
await buildLibraries();
writeTypes();

async function buildLibraries(): Promise<void> {
  const outdir = path.join(dist, "lib");
  rmSync(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    bundle: true,
    // What two of them share is there once: an error class of one is that of the other.
    splitting: true,
    chunkNames: "shared/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node24",
    external: ["lmdb"],
    legalComments: "none",
    logLevel: "warning",
    banner: { js: requireBanner },
    plugins: [filesByUrl((file) => `../../${path.basename(file).replace(/\.ts$/, ".js")}`)],
  });
}

/** The declarations that the exports lead to, and no others. */
function writeTypes(): void {
  const made = mkdtempSync(path.join(dist, "types-"));
  try {
    run("node_modules/.bin/tsc", "-p", "tsconfig.package.json", "--outDir", made);
    const types = path.join(dist, "types");
    rmSync(types, { recursive: true, force: true });
    const pending = Object.values(entries).map((entry) => path.relative("src", entry).replace(/\.ts$/, ".d.ts"));
    const known = new Set(pending);
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      const text = readFileSync(path.join(made, file), "utf8").replace(/(["'])(\.{1,2}\/[^"']+)\.ts\1/g, (_, quote: string, target: string) => {
        const declaration = path.join(path.dirname(file!), `${target}.d.ts`);
        if (!known.has(declaration)) pending.push(declaration);
        known.add(declaration);
        return `${quote}${target}.js${quote}`;
      });
      mkdirSync(path.dirname(path.join(types, file)), { recursive: true });
      writeFileSync(path.join(types, file), text);
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function run(program: string, ...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
