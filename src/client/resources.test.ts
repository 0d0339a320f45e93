import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resources } from "./resources.ts";

interface Discovery {
  [group: string]: { group: string; versions: { version: string; resources: { name: string; kind: string; namespaced: boolean }[] }[] };
}

/** Watched by our own components where their gates are on. */
const behindGates = ["scheduling.k8s.io/v1beta1 podgroups PodGroup true"];

test("resources: exactly what discovery shows, and what is behind gates", () => {
  const discovery = JSON.parse(readFileSync(new URL("../api/data/discovery.json", import.meta.url), "utf8")) as Discovery;
  const line = (group: string, version: string, resource: string, kind: string, isNamespaced: boolean) =>
    `${group}/${version} ${resource} ${kind} ${isNamespaced}`;
  const served = Object.values(discovery).flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources: items }) => items.map(({ name, kind, namespaced }) => line(group, version, name, kind, namespaced))),
  );
  const known = Object.values(resources).map(({ group, version, resource, kind, isNamespaced }) => line(group, version, resource, kind, isNamespaced));
  deepEqual(known.sort(), [...served, ...behindGates].sort());
});
