/** The npm package as others get it, in a folder of a new user with an example in it. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const root = path.resolve(import.meta.dirname, "../..");
const execute = promisify(execFile);

export interface UserFolder extends AsyncDisposable {
  readonly folder: string;
  /** Runs a program there to its end; its failure rejects with what it said. */
  run(program: string, ...args: readonly string[]): Promise<string>;
}

/** `install`: npm installs the package with its dependencies; else it is only unpacked where npm would put it, which needs no network. */
export async function userFolder(example: string, how: "install" | "unpack"): Promise<UserFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), "coracle-user-"));
  const run = async (program: string, ...args: readonly string[]) => {
    const { stdout, stderr } = await execute(program, args, {
      cwd: folder,
      timeout: 240_000,
      maxBuffer: 64 << 20,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    }).catch((error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`, { cause: error });
    });
    return stdout + stderr;
  };
  try {
    await cp(path.join(root, "examples", example), folder, { recursive: true });
    await writeFile(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await execute(process.execPath, ["tools/package.ts"], { cwd: root, timeout: 240_000 });
    const packs = path.join(folder, "packs");
    await mkdir(packs);
    await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", packs], { cwd: root });
    const archive = path.join(packs, (await readdir(packs))[0]!);
    if (how === "install") await run("npm", "install", "--no-audit", "--no-fund", "--prefer-offline", archive);
    else {
      const place = path.join(folder, "node_modules", "coracle");
      await mkdir(place, { recursive: true });
      await run("tar", "-xzf", archive, "-C", place, "--strip-components=1");
    }
    await writeFile(
      path.join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...userOptions, typeRoots: [path.join(root, "node_modules", "@types")] } }),
    );
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return { folder, run, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** The types are checked, too (no skipLibCheck). */
const userOptions = {
  module: "nodenext",
  target: "esnext",
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  types: ["node"],
};

/** The repository's type checker, for a user's folder. */
export const tscPath = path.join(root, "node_modules", ".bin", "tsc");
