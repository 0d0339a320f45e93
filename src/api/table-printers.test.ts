import assert from "node:assert/strict";
import { test } from "node:test";
import columns from "./data/columns.json" with { type: "json" };
import { tablePrinters } from "./table-printers.ts";

test("every printer has a cell per column, even for the empty object of a bookmark", () => {
  const known: Readonly<Record<string, readonly unknown[]>> = columns;
  for (const [resource, printer] of tablePrinters) {
    const wanted = known[resource.replace(/^\//, "")]?.length;
    if (wanted === undefined) continue;
    const cells = printer.cells({ metadata: {} }, { nowMs: 0 });
    // Addresses show an age for which there is no column.
    assert.equal(cells.length, resource.endsWith("/ipaddresses") ? wanted + 1 : wanted, resource);
    assert.ok(
      cells.every((cell) => cell !== undefined && cell !== "undefined/undefined"),
      resource,
    );
  }
});
