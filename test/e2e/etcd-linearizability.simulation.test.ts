/** The etcd store is linearizable while its etcd, `etcd` on the PATH (Debian: etcd-server), is killed and comes back. */
import { equal } from "node:assert/strict";
import { it } from "node:test";
import { VirtualClock } from "../../src/base/virtual-clock.ts";
import { openStore } from "../../src/storage/index.ts";
import { seedsOr } from "../../src/testing/seeds.ts";
import { EtcdCluster, hasEtcd } from "./etcd.ts";
import { checkSubject } from "../simulations/linearizability/check-subject.ts";
import { storeSubject } from "../simulations/linearizability/store-subject.ts";

if (hasEtcd) {
  for (const members of [1, 3]) {
    it(`linearizable: the etcd store, of whose ${members} etcd one is killed and comes back`, { timeout: 3_600_000 }, async () => {
      for (let seed = 1; seed <= seedsOr(1); seed++) {
        await using etcd = await EtcdCluster.start(members);
        const store = await openStore({ backend: "etcd", endpoints: etcd.endpoints, clock: new VirtualClock() });
        let crashes = 0;
        const crash = async () => {
          await etcd.kill(crashes++ % members);
          await etcd.startAll();
        };
        const fault = await checkSubject(
          storeSubject(() => store, crash),
          seed,
          { patience: 5_000_000 },
        );
        await store.close();
        equal(fault, undefined, `seed ${seed}`);
      }
    });
  }
} else {
  it.skip("needs etcd on the PATH", () => {});
}
