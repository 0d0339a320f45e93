/** A scheduler plugin as a new user writes it, in a folder with nothing but the packed package. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tscPath, userFolder } from "./packed-package.ts";

test("the example of a scheduler plugin, with the packed package", async () => {
  await using user = await userFolder("scheduler-plugin", "unpack");
  await user.run(process.execPath, tscPath, "-p", ".");
  assert.match(await user.run(process.execPath, "--test"), /pass 2\n/);
});
