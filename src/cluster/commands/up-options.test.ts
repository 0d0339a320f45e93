import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { parseArguments } from "./arguments.ts";
import { componentNames, readUpOptions, upOptionTable } from "./up-options.ts";

const read = (...words: string[]) => readUpOptions(parseArguments(["up", "--data-dir=/d", ...words], upOptionTable));

test("options of up: defaults", () => {
  const { components, flags, ...rest } = read();
  deepEqual([...components], [...componentNames]);
  equal(flags.size, 0);
  deepEqual(rest, {
    dataDir: "/d",
    port: 6443,
    bindAddress: "0.0.0.0",
    store: "lmdb",
    runtime: "auto",
    containerdSocket: undefined,
    nodes: 1,
    nodeName: undefined,
    serviceCidrs: ["10.0.0.0/16"],
    podCidrs: ["10.244.0.0/16"],
    nodeCidr: "10.243.0.0/24",
    loadBalancerCidrs: ["10.242.0.0/24"],
    nodePodCidrs: ["10.244.0.0/24"],
    isFurtherNode: false,
    isVerbose: false,
    mayInstall: true,
  });
});

test("options of up: choices", () => {
  const { components, port, store, serviceCidrs, isVerbose, mayInstall } = read(
    "--components=apiserver, dns",
    "--port=0",
    "--store=etcd=http://a:1,http://b:1",
    "--service-cidr=10.1.0.0/24,fd00::/112",
    "-v",
    "--no-install",
  );
  deepEqual(
    [[...components], port, store, serviceCidrs, isVerbose, mayInstall],
    [["apiserver", "dns"], 0, "etcd=http://a:1,http://b:1", ["10.1.0.0/24", "fd00::/112"], true, false],
  );
});

test("options of up: refusals name the option and what was given", () => {
  const table: [word: string, message: RegExp][] = [
    ["extra", /^unexpected word "extra": `coracle help up` lists the options$/],
    ["--runtime=docker", /^--runtime is one of .*; not "docker"$/],
    ["--store=etcd", /^--store is one of .*; not "etcd"$/],
    ["--port=65536", /^--port wants a number from 0 to 65535; not "65536"$/],
    ["--port=-1", /^--port wants a number/],
    ["--port=1e3", /^--port wants a number/],
    ["--nodes=0", /^--nodes wants a number from 1 to 10000; not "0"$/],
    ["--components=apiserver,nothing", /^--components knows .*; not "nothing"$/],
    ["--service-cidr=10.0.0.0", /^--service-cidr wants a range of addresses/],
    ["--service-cidr=", /^--service-cidr wants a range of addresses such as 10\.0\.0\.0\/16; not ""$/],
    ["--pod-cidr=10.0.0.0/29", /^--pod-cidr wants a range of addresses/],
    ["--pod-cidr=10.0.0.0/16,x", /^--pod-cidr wants a range of addresses .*; not "x"$/],
  ];
  for (const [word, message] of table) throws(() => read(word), { name: "UsageError", message }, word);
});

test("options of up: upstream's names for them", () => {
  const upstream = ["--apiserver.secure-port=1", "--apiserver.bind-address=127.0.0.2", "--apiserver.etcd-servers=http://a:1,http://b:1"];
  const { port, bindAddress, store } = read(...upstream);
  deepEqual({ port, bindAddress, store }, { port: 1, bindAddress: "127.0.0.2", store: "etcd=http://a:1,http://b:1" });
  equal(read(...upstream, "--port=2", "--store=memory").port, 2);
  equal(read(...upstream, "--port=2", "--store=memory").store, "memory");
});

for (const [words, says] of [
  [["--pod-cidr=10.0.0.0/16"], "--service-cidr 10.0.0.0/16 and --pod-cidr 10.0.0.0/16 overlap: choose ranges that do not"],
  [["--node-cidr=10.244.3.0/24"], "--pod-cidr 10.244.0.0/16 and --node-cidr 10.244.3.0/24 overlap: choose ranges that do not"],
] as const)
  test(`ranges that overlap: ${words.join(" ")}`, () => throws(() => read(...words), { message: says }));

test("a range that covers a default which nobody asked for", () => deepEqual(read("--pod-cidr=10.240.0.0/13").podCidrs, ["10.240.0.0/13"]));
