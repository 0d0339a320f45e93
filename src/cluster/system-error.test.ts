import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSystemError } from "./system-error.ts";

const systemError = (fields: Record<string, string>) => Object.assign(new Error("raw"), fields);

for (const [name, error, expected] of [
  [
    "no permission",
    systemError({ code: "EACCES", path: "/x/store" }),
    "cannot use /x/store (permission denied): run this as its owner, or choose another directory with --data-dir",
  ],
  [
    "a file where a directory is wanted",
    systemError({ code: "EEXIST", path: "/x" }),
    "cannot use /x (a file is in the way): choose another directory with --data-dir",
  ],
  [
    "a full disk",
    systemError({ code: "ENOSPC", path: "/x/pki/ca.key" }),
    "cannot use /x/pki/ca.key (no space is left): make room, or choose another directory with --data-dir",
  ],
  [
    "a full disk, noticed by a write",
    systemError({ code: "ENOSPC", syscall: "write" }),
    "no space is left: make room, or choose another directory with --data-dir",
  ],
  [
    "an address of others",
    systemError({ code: "EADDRNOTAVAIL", address: "192.0.2.1" }),
    "192.0.2.1 is no address of this machine: choose one that is with --bind-address",
  ],
  ["an error of ours", new Error("the store is damaged"), undefined],
  ["a code without a meaning here", systemError({ code: "EMFILE", path: "/x" }), undefined],
] as const) {
  test(name, () => assert.equal(describeSystemError(error), expected));
}
