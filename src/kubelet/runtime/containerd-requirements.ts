/** What of the machine the runtime `containerd` needs, and which Debian package has it. */
import { findOnPath, isExecutable } from "../../host/executables.ts";

/** Debian packages whose programs are missing; empty when containers can run. `path`: where programs are looked for. */
export async function missingContainerPackages(path: string): Promise<string[]> {
  const whole = `${path}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  const programs = { containerd: ["containerd", "ctr"], runc: ["runc"], nftables: ["nft"], iproute2: ["ip"] };
  const missing: string[] = [];
  for (const [name, needed] of Object.entries(programs)) {
    const found = await Promise.all(needed.map((program) => findOnPath(program, whole)));
    if (found.includes(undefined)) missing.push(name);
  }
  if (!(await isExecutable(`${await detectCniBinDirectory()}/bridge`))) missing.push("containernetworking-plugins");
  if (!(await isExecutable("/bin/busybox"))) missing.push("busybox-static");
  return missing;
}

/** Debian's package puts the CNI plugins into /usr/lib/cni, nearly everybody else into /opt/cni/bin. */
export async function detectCniBinDirectory(): Promise<string> {
  for (const directory of ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"]) if (await isExecutable(`${directory}/bridge`)) return directory;
  return "/opt/cni/bin";
}
