// `npm run build`: bundles src/cluster/main.ts into dist/coracle.mjs.
//
// Programs of ours that run in a thread or process of their own become bundles beside it: every `NAME-main.ts` is `dist/NAME-main.js`. What the
// sources name as `new URL("./file", import.meta.url)` is bundled (TypeScript) or copied there too, and the URL in the bundle leads to it.
// Only lmdb, which is native, stays outside.
import { build } from "esbuild";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { writeDescriptions } from "./descriptions.ts";
import { filesByUrl, requireBanner } from "./files-by-url.ts";

const root = path.dirname(import.meta.dirname);
const entry = path.join(root, "src", "cluster", "main.ts");
const target = path.join(root, "dist");

/** What has to be in dist/, by the path of its source. */
const outputs = new Map<string, string>([[entry, "coracle.mjs"]]);
for (const file of globSync("src/**/*-main.ts", { cwd: root })) outputOf(path.join(root, file));

if (!existsSync(entry)) {
  console.error("There is nothing to build yet: src/cluster/main.ts, the entry of the command, does not exist.");
  process.exit(1);
}
// What changes while we build must be built again: the result is as old as our start.
const startedAt = new Date();
mkdirSync(target, { recursive: true });
writeDescriptions(startedAt);
// The map grows while its bundles are made: a bundle may name further files. The command itself is put in place last.
const made: { from: string; to: string }[] = [];
for (const [source, name] of outputs) {
  const to = path.join(target, name);
  const from = `${to}.${process.pid}.tmp`;
  writeFileSync(from, source.endsWith(".ts") ? await bundle(source) : readFileSync(source));
  utimesSync(from, startedAt, startedAt);
  made.unshift({ from, to });
}
for (const { from, to } of made) renameSync(from, to);
dropCompileCache(path.join(target, ".compile-cache"));

/** Programs that run meanwhile write into the cache's folder: it is moved out of their way first, since a folder that is written to cannot be removed. */
function dropCompileCache(cache: string): void {
  const old = `${cache}.${process.pid}.tmp`;
  try {
    renameSync(cache, old);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  rmSync(old, { recursive: true });
}

async function bundle(source: string): Promise<string> {
  const result = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node24",
    external: ["lmdb"],
    legalComments: "none",
    logLevel: "warning",
    banner: { js: requireBanner },
    plugins: [filesByUrl((file) => `./${outputOf(file)}`)],
  }).catch(() => process.exit(1)); // (esbuild has printed what is wrong)
  return result.outputFiles[0]!.text;
}

/** The name in dist/ of what is made from `source`. */
function outputOf(source: string): string {
  const known = outputs.get(source);
  if (known !== undefined) return known;
  const name = path.basename(source).replace(/\.ts$/, ".js");
  if ([...outputs.values()].includes(name)) throw new Error(`Two files would be dist/${name}: rename ${source}.`);
  outputs.set(source, name);
  return name;
}
