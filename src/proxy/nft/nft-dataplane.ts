/** The dataplane of nftables: two tables, `ip` and `ip6`, of one name that carries the instance; every change is one transaction. */
import { createNft, NftError } from "../../host/index.ts";
import type { Nft, Programs } from "../../host/index.ts";
import type { Clock } from "../../base/clock.ts";
import { sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { IpFamily } from "../../apimachinery/net.ts";
import type { Dataplane } from "../dataplane.ts";
import type { ServicePlan } from "../plan.ts";
import { RuleLedger } from "./rule-ledger.ts";
import { ruleUnits } from "./rule-units.ts";
import { FlowTable, staleFlows } from "./stale-flows.ts";

/** Rules stay when it is closed: pods go on running when our process stops, and so do their Services. `removeNftTables` removes them. */
export function createNftDataplane(options: NftDataplaneOptions): Dataplane {
  const nft = createNft({ programs: options.programs });
  const table = proxyTableName(options.instanceId);
  const flows = new FlowTable(options);
  let families = new Map<IpFamily, RuleLedger>();
  let current = new Map<string, ServicePlan>();
  const put = (name: string, plan: ServicePlan | undefined) => {
    for (const [family, ledger] of families) {
      ledger.put(name, plan === undefined ? [] : ruleUnits(plan, family));
      for (const [claim, owner] of ledger.conflictsOf(name))
        options.log.warn("Another Service has this address and port already", { service: name, claim, owner });
    }
  };
  return {
    async replaceAll(plans, serviceCidrs) {
      families = new Map(options.families.map((family) => [family, new RuleLedger({ table, family, podCidrs: options.podCidrs })]));
      let count = 0;
      for (const [name, plan] of plans) {
        put(name, plan);
        if (++count % 500 === 0) await sleep(options.clock, 0);
      }
      for (const ledger of families.values()) ledger.setServiceCidrs(serviceCidrs);
      await nft.apply([...families.values()].map((ledger) => ledger.takeAll()).join(""));
      const before = current;
      current = new Map(plans);
      await flows.forget([...before].flatMap(([name, plan]) => staleFlows(plan, plans.get(name))));
    },
    async change(plans, serviceCidrs) {
      const stale = [...plans].flatMap(([name, plan]) => staleFlows(current.get(name), plan));
      for (const [name, plan] of plans) {
        if (plan === undefined) current.delete(name);
        else current.set(name, plan);
      }
      for (const [name, plan] of plans) put(name, plan);
      for (const ledger of families.values()) ledger.setServiceCidrs(serviceCidrs);
      const script = [...families.values()].map((ledger) => ledger.takeChanges()).join("");
      if (script !== "") await nft.apply(script);
      // The rules first: a flow that begins in between would be a stale one again.
      await flows.forget(stale);
    },
    close: async () => {},
  };
}

export interface NftDataplaneOptions {
  readonly programs: Programs;
  readonly clock: Clock;
  readonly log: Log;
  readonly instanceId: string;
  readonly podCidrs: readonly string[];
  readonly families: readonly IpFamily[];
}

export function proxyTableName(instanceId: string): string {
  return `coracle-${instanceId}-proxy`;
}

/** Removes a table of both families; one that is not there is no error. */
export async function removeNftTables(nft: Nft, table: string): Promise<void> {
  for (const family of ["ip", "ip6"]) {
    await nft.apply(`delete table ${family} ${table}`).catch((error: unknown) => {
      if (!(error instanceof NftError && error.reason === "NotFound")) throw error;
    });
  }
}
