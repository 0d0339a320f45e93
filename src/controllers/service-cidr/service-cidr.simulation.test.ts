import assert from "node:assert/strict";
import { cidrContains, parseCidr, parseIp } from "../../apimachinery/net.ts";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { IPAddress, ServiceCIDR } from "../../api/networking-v1/types.ts";

const setting = { controllers: ["service-cidr-controller"], nodes: [], steps: 16, pauseMs: 12_000 };
const ranges = ["172.16.0.0/28", "172.16.0.0/29", "172.16.0.8/29", "172.16.1.0/28"];
const holds = (cidrs: readonly string[], address: string) =>
  cidrs.some((text) => {
    const [range, ip] = [parseCidr(text), parseIp(address)];
    return range !== undefined && ip !== undefined && cidrContains(range, ip);
  });

/** Ranges come and go, some within others, and addresses of them: no range goes that an address needs, every other one that was deleted does. */
simulate("a range of service addresses goes when no address needs it", setting, ({ cluster, client, random, state }) => {
  let born = 0;
  const cidrs = () => state.of<ServiceCIDR>("ServiceCIDR").filter(({ metadata }) => metadata.name !== "kubernetes");
  const addresses = () => state.of<IPAddress>("IPAddress").filter(({ metadata }) => metadata.name?.startsWith("172.16.") === true);
  const live = () => cidrs().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const neededBy = ({ spec, metadata }: DeepReadonly<ServiceCIDR>) => {
    const others = live().filter((other) => other.metadata.uid !== metadata.uid);
    return addresses().find(({ metadata: { name = "" } }) => holds(spec?.cidrs ?? [], name) && !others.some((other) => holds(other.spec?.cidrs ?? [], name)))
      ?.metadata.name;
  };
  const create = () => client.create(resources.serviceCIDRs, { metadata: { name: `r${++born}` }, spec: { cidrs: [someOf(random, ranges)!] } });
  return {
    arrange: create,
    async step() {
      const cidr = someOf(random, live());
      const address = someOf(random, addresses())?.metadata.name;
      const choice = random.integer(5);
      if (choice === 0 || cidr === undefined) return create();
      if (choice === 1) return client.delete(resources.serviceCIDRs, "", cidr.metadata.name ?? "");
      if (choice === 2 && address !== undefined) return client.delete(resources.ipAddresses, "", address);
      const base = cidr.spec?.cidrs?.[0]?.split("/")[0]?.split(".") ?? [];
      const name = [...base.slice(0, 3), Number(base[3]) + 1 + random.integer(6)].join(".");
      if (addresses().some(({ metadata }) => metadata.name === name)) return;
      const parentRef = { group: "", resource: "services", namespace: "default", name: "web" };
      return client.create(resources.ipAddresses, { metadata: { name }, spec: { parentRef } });
    },
    check({ kind, object, old }) {
      // One that was deleted before it was ever held goes at once.
      if (kind === "ServiceCIDR" && object === undefined && old?.metadata.finalizers !== undefined)
        assert.equal(neededBy(old as ServiceCIDR), undefined, `${old.metadata.name} is not needed`);
    },
    settle: () => cluster.advance(120_000),
    async reached() {
      for (const cidr of cidrs()) {
        const ready = cidr.status?.conditions?.find(({ type }) => type === "Ready")?.status;
        const isGoing = cidr.metadata.deletionTimestamp !== undefined;
        assert.equal(ready, isGoing ? "False" : "True", `${cidr.metadata.name}`);
        assert.ok(cidr.metadata.finalizers?.includes("networking.k8s.io/service-cidr-finalizer"));
        if (isGoing) assert.notEqual(neededBy(cidr), undefined, `${cidr.metadata.name} is needed`);
      }
    },
  };
});
