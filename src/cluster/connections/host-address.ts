import { networkInterfaces } from "node:os";

/** The first IPv4 address of this machine that others can reach, or loopback's. */
export function firstHostAddress(): string {
  for (const list of Object.values(networkInterfaces())) {
    for (const { family, internal, address } of list ?? []) if (family === "IPv4" && !internal) return address;
  }
  return "127.0.0.1";
}

/** Under which others reach what listens on `bindAddress`: that address itself, unless it stands for all. */
export function addressOfListener(bindAddress: string): string {
  return bindAddress === "0.0.0.0" || bindAddress === "::" ? firstHostAddress() : bindAddress;
}
