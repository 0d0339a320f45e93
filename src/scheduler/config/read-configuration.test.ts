import { test } from "node:test";
import { deepEqual, throws } from "node:assert/strict";
import { readConfiguration } from "./read-configuration.ts";

const read = (text: string) => readConfiguration(Buffer.from(text));
const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

test("configuration: YAML with profiles", () => {
  const { profiles, podMaxBackoffSeconds } = read(
    `${head}podMaxBackoffSeconds: 20\nprofiles:\n- schedulerName: mine\n  plugins:\n    score:\n      disabled:\n      - name: "*"\n`,
  );
  deepEqual([profiles, podMaxBackoffSeconds], [[{ schedulerName: "mine", plugins: { score: { disabled: [{ name: "*" }] } } }], 20]);
});

const faults: [name: string, text: string, message: RegExp][] = [
  ["no object", "- a", /is not an object/],
  ["another kind", "apiVersion: v1\nkind: Pod\n", /is no KubeSchedulerConfiguration of kubescheduler.config.k8s.io\/v1: "Pod" of "v1"/],
  ["no YAML", "a: [", /cannot be read/],
  ["a name twice", `${head}profiles:\n- schedulerName: a\n- schedulerName: a\n`, /two profiles have the scheduler name "a"/],
];
for (const [name, text, message] of faults) test(`configuration: ${name}`, () => throws(() => read(text), message));
