/** What our process may do on this machine. */
import { readFile } from "node:fs/promises";

export interface Capabilities {
  readonly isRoot: boolean;
  /** Effective capabilities by kernel name, such as `CAP_SYS_RESOURCE`. Empty where /proc does not tell. */
  readonly effective: ReadonlySet<string>;
}

export async function detectCapabilities(): Promise<Capabilities> {
  const status = await readFile("/proc/self/status", "utf8").catch(() => "");
  return { isRoot: process.geteuid?.() === 0, effective: parseEffectiveCapabilities(status) };
}

/** In the order of their numbers (capabilities(7)). */
const names = [
  "CHOWN",
  "DAC_OVERRIDE",
  "DAC_READ_SEARCH",
  "FOWNER",
  "FSETID",
  "KILL",
  "SETGID",
  "SETUID",
  "SETPCAP",
  "LINUX_IMMUTABLE",
  "NET_BIND_SERVICE",
  "NET_BROADCAST",
  "NET_ADMIN",
  "NET_RAW",
  "IPC_LOCK",
  "IPC_OWNER",
  "SYS_MODULE",
  "SYS_RAWIO",
  "SYS_CHROOT",
  "SYS_PTRACE",
  "SYS_PACCT",
  "SYS_ADMIN",
  "SYS_BOOT",
  "SYS_NICE",
  "SYS_RESOURCE",
  "SYS_TIME",
  "SYS_TTY_CONFIG",
  "MKNOD",
  "LEASE",
  "AUDIT_WRITE",
  "AUDIT_CONTROL",
  "SETFCAP",
  "MAC_OVERRIDE",
  "MAC_ADMIN",
  "SYSLOG",
  "WAKE_ALARM",
  "BLOCK_SUSPEND",
  "AUDIT_READ",
  "PERFMON",
  "BPF",
  "CHECKPOINT_RESTORE",
];

/** From the text of a `/proc/PID/status` file. */
export function parseEffectiveCapabilities(status: string): Set<string> {
  const hex = /^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1];
  const mask = BigInt(`0x${hex ?? "0"}`);
  return new Set(names.filter((_, bit) => ((mask >> BigInt(bit)) & 1n) === 1n).map((name) => `CAP_${name}`));
}
