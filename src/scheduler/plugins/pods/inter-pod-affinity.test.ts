import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { clusterOf, listerOf, nodeOf, podOf, scoresOf, verdicts } from "../../test-support/cluster.ts";
import type { Affinity, Pod, PodAffinityTerm } from "../../../api/core-v1/types.ts";

const notWith = "unresolvable: node(s) didn't match pod affinity rules";
const withAvoided = "unschedulable: node(s) didn't match pod anti-affinity rules";
const unwelcome = "unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";
const term = (app: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey: "kubernetes.io/hostname",
  labelSelector: { matchLabels: { app } },
  ...more,
});
const near = (...terms: PodAffinityTerm[]): Affinity => ({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } });
const apart = (...terms: PodAffinityTerm[]): Affinity => ({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } });
const pod = (name: string, app: string, affinity?: Affinity, namespace = "default"): Pod =>
  podOf(name, affinity === undefined ? {} : { affinity }, { labels: { app }, namespace });
const namespaces = listerOf({ metadata: { name: "default" } }, { metadata: { name: "blue", labels: { team: "blue" } } });

const cases: { name: string; running: Pod; pod: Pod; expect: [a: string, b: string] }[] = [
  { name: "together", running: pod("x", "web"), pod: pod("p", "db", near(term("web"))), expect: ["fits", notWith] },
  { name: "the first of a group", running: pod("x", "other"), pod: pod("p", "web", near(term("web"))), expect: ["fits", "fits"] },
  { name: "one pod must match all terms", running: pod("x", "web"), pod: pod("p", "db", near(term("web"), term("cache"))), expect: [notWith, notWith] },
  { name: "apart", running: pod("x", "web"), pod: pod("p", "web", apart(term("web"))), expect: [withAvoided, "fits"] },
  { name: "kept away by one that runs", running: pod("x", "web", apart(term("db"))), pod: pod("p", "db"), expect: [unwelcome, "fits"] },
  { name: "another namespace", running: pod("x", "web", undefined, "blue"), pod: pod("p", "db", near(term("web"))), expect: [notWith, notWith] },
  {
    name: "a named namespace",
    running: pod("x", "web", undefined, "blue"),
    pod: pod("p", "db", near(term("web", { namespaces: ["blue"] }))),
    expect: ["fits", notWith],
  },
  {
    name: "selected namespaces",
    running: pod("x", "web", undefined, "blue"),
    pod: pod("p", "db", near(term("web", { namespaceSelector: { matchLabels: { team: "blue" } } }))),
    expect: ["fits", notWith],
  },
  {
    name: "all namespaces",
    running: pod("x", "web", undefined, "blue"),
    pod: pod("p", "db", near(term("web", { namespaceSelector: {} }))),
    expect: ["fits", notWith],
  },
];
for (const { name, running, pod: wanted, expect } of cases)
  test(`pod affinity: ${name}`, () => {
    deepEqual(verdicts("InterPodAffinity", clusterOf([[nodeOf("a"), running], nodeOf("b")], { namespaces }), wanted), { a: expect[0], b: expect[1] });
  });

test("pod affinity: preferences of the pod, and of those that run", () => {
  const prefers = (weight: number, app: string) => ({ weight, podAffinityTerm: term(app) });
  const state = clusterOf([[nodeOf("a"), pod("x", "web")], [nodeOf("b"), pod("y", "db")], nodeOf("c")]);
  const wanted = podOf("p", {
    affinity: {
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefers(5, "web")] },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefers(2, "db")] },
    },
  });
  deepEqual(scoresOf("InterPodAffinity", state, wanted), { a: 200, b: 0, c: 56 });
  deepEqual(scoresOf("InterPodAffinity", clusterOf([[nodeOf("a"), pod("x", "web", near(term("web")))], nodeOf("b")]), pod("p", "web")), { a: 200, b: 0 });
  deepEqual(scoresOf("InterPodAffinity", state, pod("p", "web")), undefined);
});
