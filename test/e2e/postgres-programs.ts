/**
 * Two minor versions of PostgreSQL, each in a folder of its own: the machine's, and the newest of Debian's mirror. Where the mirror has no
 * other, the second is the machine's once more under the next number: another program by its path, which is what a version is here.
 */
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const installed = "/usr/lib/postgresql/15";

export class PostgresPrograms implements AsyncDisposable {
  /** Has `VERSION/bin/postgres`. */
  readonly folder: string;
  readonly older: string;
  readonly newer: string;
  readonly #paths: ReadonlyMap<string, string>;
  readonly #reported: ReadonlyMap<string, string>;

  private constructor(folder: string, versions: readonly { readonly version: string; readonly root: string; readonly reported: string }[]) {
    this.folder = path.join(folder, "programs");
    this.older = versions[0]!.version;
    this.newer = versions[1]!.version;
    this.#paths = new Map(versions.map(({ version, root }) => [version, path.join(root, "bin", "postgres")]));
    this.#reported = new Map(versions.map(({ version, reported }) => [version, reported]));
  }

  static async create(): Promise<PostgresPrograms> {
    const folder = await mkdtemp(path.join(tmpdir(), "coracle-postgres-"));
    await chmod(folder, 0o755);
    const older = await versionOf(installed);
    const root = (await downloaded(folder, older)) ?? (await copied(folder));
    const reported = await versionOf(root);
    const newer = reported === older ? older.replace(/\d+$/, (minor) => String(Number(minor) + 1)) : reported;
    const versions = [
      { version: older, root: await realpath(installed), reported: older },
      { version: newer, root, reported },
    ];
    await mkdir(path.join(folder, "programs"));
    for (const one of versions) await symlink(one.root, path.join(folder, "programs", one.version));
    return new PostgresPrograms(folder, versions);
  }

  /** The file that a version runs. */
  program(version: string): string {
    return this.#paths.get(version)!;
  }

  /** What the server of a version says that it is. */
  reported(version: string): string {
    return this.#reported.get(version)!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(path.dirname(this.folder), { recursive: true, force: true });
  }
}

async function versionOf(root: string): Promise<string> {
  const { stdout } = await execute(path.join(root, "bin", "postgres"), ["--version"]);
  return /\) (\d+\.\d+)/.exec(stdout)![1]!;
}

/** Unpacked from the mirror's packages; undefined when it has no newer minor version, or cannot be reached. */
async function downloaded(folder: string, older: string): Promise<string | undefined> {
  const { stdout } = await execute("apt-cache", ["madison", "postgresql-15"]).catch(() => ({ stdout: "" }));
  const minor = (version: string) => Number(/^15\.(\d+)/.exec(version)?.[1]);
  const [newest] = [...stdout.matchAll(/\| (15\.\S+) \|/g)].map(([, version]) => version!).toSorted((a, b) => minor(b) - minor(a));
  if (newest === undefined || minor(newest) <= minor(older)) return undefined;
  const packages = [`postgresql-15=${newest}`, `postgresql-client-15=${newest}`];
  const isThere = await execute("apt-get", ["download", ...packages], { cwd: folder }).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".deb"))) await execute("dpkg", ["-x", path.join(folder, file), folder]);
  return path.join(folder, "usr/lib/postgresql/15");
}

async function copied(folder: string): Promise<string> {
  const root = path.join(folder, "usr/lib/postgresql/15");
  await cp(await realpath(installed), root, { recursive: true });
  await cp("/usr/share/postgresql/15", path.join(folder, "usr/share/postgresql/15"), { recursive: true });
  return root;
}
