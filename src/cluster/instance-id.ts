import { createHash } from "node:crypto";

/** Six letters that stand for an instance in names of interfaces, tables and sockets: two data directories never share them by accident. */
export function instanceId(dataDir: string): string {
  return createHash("sha256").update(dataDir).digest("hex").slice(0, 6);
}
