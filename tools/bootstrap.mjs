// Makes a fresh clone runnable with nothing but a system Node (20 or newer) and npm.
//
//   node tools/bootstrap.mjs [--with-system] SCRIPT [ARG…]
//
// Installs the npm packages if they are missing or not those of package-lock.json, with --with-system also Debian's packages for real containers
// (root only; never with --no-install among the arguments or CORACLE_NO_INSTALL set), then runs SCRIPT with the pinned Node and ends as it ends.
//
// It imports nothing but Node's own modules, since it runs before anything is installed.
import { installSystem } from "./install-system.mjs";
import { continueWithPinnedNode, ensurePackages, stop } from "./packages.mjs";

const given = process.argv.slice(2);
const withSystem = given[0] === "--with-system" && !given.includes("--no-install") && !process.env.CORACLE_NO_INSTALL;
const args = given.filter((argument, index) => argument !== "--no-install" && !(index === 0 && argument === "--with-system"));
if (args.length === 0) stop("usage: node tools/bootstrap.mjs [--with-system] SCRIPT [ARG…]");
ensurePackages();
if (withSystem) {
  const missing = installSystem();
  if (missing.length > 0) console.error(`Tests that need real containers are skipped: there is no ${missing.join(", ")}.`);
}
continueWithPinnedNode(args);
