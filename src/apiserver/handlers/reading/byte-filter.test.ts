import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { parseFieldSelector } from "../../../apimachinery/selectors/field-selector.ts";
import { parseLabelSelector } from "../../../apimachinery/selectors/label-selector.ts";
import { ask } from "../../../testing/ask.ts";
import { TestCluster } from "../../../testing/cluster.ts";
import { encodeStored, StoredObject } from "../../cache/stored-object.ts";
import { byteFilter } from "./byte-filter.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

test("byte filter: what has a label elsewhere than in its labels is not selected, what has it is, by every operator", async () => {
  await using cluster = await TestCluster.start();
  const create = (metadata: object) => ask(cluster, "POST", configMaps, { kind: "ConfigMap", apiVersion: "v1", metadata });
  await create({ name: "label", labels: { "a.io/b": "c", empty: "" } });
  await create({ name: "annotation", annotations: { "a.io/b": "c", empty: "" } });
  const shown: Record<string, string> = {};
  for (const selector of [
    "a.io/b=c",
    "a.io/b==c",
    "a.io/b in (c,d)",
    "a.io/b in (d)",
    "a.io/b",
    "!a.io/b",
    "a.io/b!=c",
    "a.io/b notin (c)",
    "empty=",
    "a.io/b=c,!empty",
  ]) {
    const { json } = await ask(cluster, "GET", `${configMaps}?labelSelector=${encodeURIComponent(selector)}`);
    shown[selector] = (json["items"] as unknown as KubeObject[]).map(({ metadata }) => metadata.name).join(" ");
  }
  deepEqual(shown, {
    "a.io/b=c": "label",
    "a.io/b==c": "label",
    "a.io/b in (c,d)": "label",
    "a.io/b in (d)": "",
    "a.io/b": "label",
    "!a.io/b": "annotation",
    "a.io/b!=c": "annotation",
    "a.io/b notin (c)": "annotation",
    "empty=": "label",
    "a.io/b=c,!empty": "",
  });
});

test("byte filter: pods of other nodes and without the label are left unparsed", async () => {
  await using cluster = await TestCluster.start();
  const pods = cluster.serverState.resources.find("", "v1", "pods")!;
  const pod = { kind: "Pod", apiVersion: "v1", metadata: { name: "p", labels: { app: "web" } }, spec: { nodeName: "n1" } };
  const stored = new StoredObject("default/p", encodeStored(pod as KubeObject), 1, 1);
  const passes = (labels: string, fields: string) => byteFilter(pods, { labels: parseLabelSelector(labels), fields: parseFieldSelector(fields) })(stored);
  equal(passes("app=web", "spec.nodeName=n1"), true);
  equal(passes("app=web2", ""), false);
  equal(passes("app in (web,web2)", "spec.nodeName!=n1"), true);
  equal(passes("", "spec.nodeName=n"), false);
  equal(passes("", "spec.nodeName="), true);
});
