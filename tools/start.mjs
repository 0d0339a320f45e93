// `npm start [-- ARG…]`: installs what is needed, builds, and runs `coracle up ARG…` in the foreground.
//
// It imports nothing but Node's own modules, since it runs before anything is installed.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { continueWithPinnedNode, ensurePackages, pinnedNode, root, stop } from "./packages.mjs";
import { installSystem } from "./install-system.mjs";

const args = process.argv.slice(2);
ensurePackages();
if (wantsContainers(args)) {
  const missing = installSystem();
  if (missing.length > 0)
    console.error(`Without ${missing.join(", ")} pods run as local processes${process.getuid?.() === 0 ? "" : " (run as root once to have them installed)"}.`);
}
const build = spawnSync(pinnedNode, [path.join(root, "tools", "build.ts")], { stdio: ["ignore", "inherit", "inherit"] });
if (build.status !== 0) stop("The build failed; its words are above.");
continueWithPinnedNode(["--max-semi-space-size=16", path.join(root, "dist", "coracle.mjs"), "up", ...args], {
  ...process.env,
  NODE_COMPILE_CACHE: path.join(root, "dist", ".compile-cache"),
});

/** Whether `coracle up` with these arguments looks for a container runtime that we may install. */
function wantsContainers(list) {
  if (list.includes("--no-install") || process.env.CORACLE_NO_INSTALL) return false;
  const components = value(list, "--components");
  return (
    value(list, "--containerd-socket") === undefined &&
    (value(list, "--runtime") ?? "auto") === "auto" &&
    (components === undefined || components.split(",").includes("kubelet"))
  );
}

/** The value of `--name value` or `--name=value`. */
function value(list, name) {
  const index = list.findIndex((argument) => argument === name || argument.startsWith(`${name}=`));
  if (index < 0) return undefined;
  return list[index] === name ? list[index + 1] : list[index].slice(name.length + 1);
}
