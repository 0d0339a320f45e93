/** The one image that the recordings of the kubelet ask for, made from the machine's busybox. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { busyboxImage } from "../../src/kubelet/images/builtin-images.ts";
import { buildOciArchive } from "../../src/kubelet/images/oci-archive.ts";

/** Writes an OCI archive of `docker.io/library/busybox:1.36` to `file`. */
export function writeBusyboxArchive(file: string): void {
  const program = "/bin/busybox";
  const applets = spawnSync(program, ["--list"], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((name) => name !== "");
  writeFileSync(file, buildOciArchive(busyboxImage("docker.io/library/busybox:1.36", { data: readFileSync(program), applets })));
}
