import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { clusterOf, servicesOf } from "../test-support/cluster.ts";
import { buildProfiles } from "./build-profiles.ts";
import { builtInPlugins } from "./plugin-registry.ts";
import type { ProfileConfiguration } from "./configuration.ts";

const profileOf = (profile: ProfileConfiguration) => [...buildProfiles({ profiles: [profile] }, builtInPlugins, servicesOf(clusterOf([]))).values()][0]!;
const namesOf = (profile: ProfileConfiguration) => profileOf(profile).plugins.map(({ name }) => name);

test("profiles: the default has all plugins in order, with their weights", () => {
  const profile = profileOf({});
  equal(profile.schedulerName, "default-scheduler");
  deepEqual(
    profile.plugins.slice(0, 5).map(({ name }) => name),
    ["SchedulingGates", "PrioritySort", "NodeName", "NodeUnschedulable", "TaintToleration"],
  );
  deepEqual(
    ["TaintToleration", "NodeAffinity", "ImageLocality"].map((name) => profile.weights.get(name)),
    [3, 2, 1],
  );
});

test("profiles: plugins can be taken out, wholly or at one point", () => {
  equal(namesOf({ plugins: { multiPoint: { disabled: [{ name: "ImageLocality" }] } } }).includes("ImageLocality"), false);
  const plugin = profileOf({ plugins: { score: { disabled: [{ name: "NodeAffinity" }] } } }).plugins.find(({ name }) => name === "NodeAffinity")!;
  deepEqual([plugin.preScore === undefined, plugin.preFilter === undefined], [true, false]);
});

test("profiles: weights can be set", () => {
  const profile = profileOf({ plugins: { score: { enabled: [{ name: "NodeResourcesFit", weight: 7 }] } } });
  equal(profile.weights.get("NodeResourcesFit"), 7);
});

test("profiles: only the named plugins, after all were disabled", () => {
  const plugins = { multiPoint: { enabled: [{ name: "PrioritySort" }, { name: "DefaultBinder" }], disabled: [{ name: "*" }] } };
  deepEqual(namesOf({ plugins }), ["PrioritySort", "DefaultBinder"]);
});

test("profiles: a plugin that there is not", () => {
  throws(() => namesOf({ plugins: { multiPoint: { enabled: [{ name: "Nonsense" }] } } }), /plugin "Nonsense" does not exist/);
});
