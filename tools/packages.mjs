// The npm packages of this repository and the pinned Node among them. Imports nothing but Node's own modules, since it runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const pinnedNode = path.join(root, "node_modules", ".bin", "node");

/** Installs the npm packages of package-lock.json unless exactly they are there. Ends the process with one line when it cannot. */
export function ensurePackages() {
  if (arePackagesInstalled()) return;
  const release = holdLock(path.join(root, ".cache", "install.lock"));
  try {
    if (arePackagesInstalled()) return;
    console.error("Installing the npm packages (npm ci) …");
    const result = runNpm(["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"]);
    if (result.error) stop(`npm could not be started (${result.error.message}): install npm, then try again`);
    if (result.status !== 0) stop("npm ci failed (its words are above): check that the npm registry can be reached, then try again");
    if (!arePackagesInstalled())
      stop("npm ci ended without the pinned Node in node_modules/.bin: see that npm may run install scripts (npm config get ignore-scripts)");
  } finally {
    release();
  }
}

/** Runs `args` with the pinned Node, passes signals on, and ends this process as that one ends. */
export function continueWithPinnedNode(args, env = process.env) {
  // Where the system's programs (nft, runc, ip) lie; the PATH that `su` or a service gives may leave them out.
  const PATH = [env.PATH, "/usr/local/sbin", "/usr/sbin", "/sbin"].filter(Boolean).join(path.delimiter);
  const child = spawn(pinnedNode, args, { stdio: "inherit", env: { ...env, PATH } });
  // A terminal's Ctrl-C reaches the child as well; this process only has to outlive it.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal)));
  child.on("error", (error) => stop(`${pinnedNode} could not be started: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/** npm's own record of what it installed, compared with the lock file: packages for other platforms may be missing. */
function arePackagesInstalled() {
  const installed = path.join(root, "node_modules", ".package-lock.json");
  if (!existsSync(installed) || !existsSync(pinnedNode)) return false;
  const wanted = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(installed, "utf8")).packages;
  return Object.entries(wanted).every(
    ([name, { version, optional }]) => name === "" || present[name]?.version === version || (present[name] === undefined && optional === true),
  );
}

/** Runs npm in the repository, by the Node that runs us unless that one lives in node_modules, which npm is about to replace. */
export function runNpm(args, options = {}) {
  const own = path.join(root, "node_modules");
  const PATH = (process.env.PATH ?? "")
    .split(path.delimiter)
    .filter((folder) => !folder.startsWith(own))
    .join(path.delimiter);
  return spawnSync("npm", args, { cwd: root, stdio: ["ignore", "inherit", "inherit"], ...options, env: { ...process.env, PATH } });
}

/** Waits until no other process holds `file`, then holds it; the returned function lets it go. A holder that died does not count. */
export function holdLock(file) {
  mkdirSync(path.dirname(file), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!isAlive(Number(readIfThere(file)))) rmSync(file, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return "0";
    throw error;
  }
}

function isAlive(pid) {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

export function stop(line) {
  console.error(line);
  process.exit(1);
}

/** Whether the module at `url` is the program that was started (and not imported). */
export function isProgram(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);
}
