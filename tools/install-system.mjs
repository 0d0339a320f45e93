// Installs what real containers need from Debian's packages, each announced: for root, by apt-get, and only what is missing.
//
//   node tools/install-system.mjs [--check]     exit code 0: all there, 1: something is missing
//
// It imports nothing but Node's own modules, since it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, openSync, readSync, closeSync } from "node:fs";
import path from "node:path";
import { isProgram } from "./packages.mjs";

/** Debian's package, what it is for, and where it shows that it is there. */
const packages = [
  { name: "containerd", purpose: "runs containers", isThere: () => isProgramThere("containerd") },
  { name: "runc", purpose: "starts the processes of a container", isThere: () => isProgramThere("runc") },
  {
    name: "containernetworking-plugins",
    purpose: "connects pods to the network",
    isThere: () => existsSync("/usr/lib/cni/bridge") || existsSync("/opt/cni/bin/bridge"),
  },
  { name: "nftables", purpose: "makes Services answer", isThere: () => isProgramThere("nft") },
  { name: "conntrack", purpose: "ends flows of UDP to pods that are gone", isThere: () => isProgramThere("conntrack") },
  { name: "busybox-static", purpose: "is what our own images are made of", isThere: isStaticBusyboxThere },
];

/** Names of the packages that real containers need and that are not there. */
export function missingPackages() {
  return packages.filter(({ isThere }) => !isThere()).map(({ name }) => name);
}

/** Installs what is missing. Never throws: returns what is still missing, and says why on standard error. */
export function installSystem() {
  const missing = missingPackages();
  if (missing.length === 0) return [];
  if (process.platform !== "linux" || process.getuid?.() !== 0) return missing;
  if (!isProgramThere("apt-get")) {
    console.error(`Not installed, since there is no apt-get here: ${missing.join(", ")}.`);
    return missing;
  }
  for (const { name, purpose } of packages) if (missing.includes(name)) console.error(`Installing Debian's package ${name}: it ${purpose}.`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const lists = spawnSync("apt-get", ["update", "-q=2"], { stdio: ["ignore", "ignore", "pipe"], env });
  const result = spawnSync("apt-get", ["install", "-y", "-q=2", "--no-install-recommends", ...missing], { stdio: ["ignore", "ignore", "pipe"], env });
  if (result.status !== 0)
    console.error(
      `apt-get failed:\n${[lists.stderr, result.stderr]
        .map((text) => String(text ?? "").trim())
        .filter(Boolean)
        .join("\n")}`,
    );
  return missingPackages();
}

function isProgramThere(name) {
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), "/usr/sbin", "/sbin", "/usr/bin"];
  return folders.some((folder) => existsSync(path.join(folder, name)));
}

/** A busybox that needs no loader: a dynamic one does not run in an image that holds nothing else. */
function isStaticBusyboxThere() {
  const file = ["/usr/bin/busybox", "/bin/busybox"].find((candidate) => existsSync(candidate));
  if (file === undefined) return false;
  const head = Buffer.alloc(4096);
  const handle = openSync(file, "r");
  readSync(handle, head);
  closeSync(handle);
  return !head.includes("/ld-");
}

if (isProgram(import.meta.url)) {
  const missing = process.argv.includes("--check") ? missingPackages() : installSystem();
  if (missing.length > 0) console.error(`Missing: ${missing.join(", ")}.`);
  process.exit(missing.length > 0 ? 1 : 0);
}
