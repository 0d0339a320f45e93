/** A cluster with the operator and simulated PostgreSQL, as the tests use it. */
import { startCluster, seededRandom } from "coracle/testing";
import type { Cluster, Random, StartClusterOptions } from "coracle/testing";
import { isConditionTrue } from "coracle/operator";
import { databaseOperator } from "../operator.ts";
import { databases } from "../resources.ts";
import type { MyDatabase } from "../resources.ts";
import { SimulatedPostgres } from "./simulated-postgres.ts";
import type { SimulationOptions } from "./simulated-postgres.ts";

export interface Stage {
  readonly cluster: Cluster;
  readonly world: SimulatedPostgres;
  readonly random: Random;
  readonly operator: ReturnType<typeof databaseOperator>;
  database(name?: string): Promise<MyDatabase>;
  isReady(name?: string): Promise<boolean>;
  /** A write every 250 ms from now on. */
  startWriter(): void;
}

export const image = { image: (version: string) => `postgres:${version}` };

export async function setStage(
  seed: number,
  options: { readonly faults?: StartClusterOptions["wrapTransport"]; readonly lateOrders?: SimulationOptions["lateOrders"] } = {},
): Promise<Stage> {
  const random = seededRandom(seed * 7919);
  const cluster = await startCluster({ seed, nodes: 3, ...(options.faults !== undefined && { wrapTransport: options.faults }) });
  const world = new SimulatedPostgres({ random, ...(options.lateOrders !== undefined && { lateOrders: options.lateOrders }) });
  cluster.start("postgres", world.run);
  const operator = databaseOperator(world, image);
  await cluster.run(operator);
  const database = async (name = "orders") => cluster.client.get(databases, "default", name);
  return {
    cluster,
    world,
    random,
    operator,
    database,
    async isReady(name) {
      const object = await database(name);
      return isConditionTrue(object, "Ready") && object.status?.observedGeneration === object.metadata.generation;
    },
    startWriter: () =>
      cluster.start("writer", async ({ clock, signal }) => {
        while (!signal.aborted) {
          world.write();
          await new Promise<void>((resolve) => {
            const cancel = clock.after(250, resolve);
            signal.addEventListener("abort", () => (cancel(), resolve()), { once: true });
          });
        }
      }),
  };
}

export function orders(spec: Partial<MyDatabase["spec"]> = {}, name = "orders"): MyDatabase {
  return databases.object({ name, namespace: "default" }, { version: "15.5", replicas: 3, ...spec });
}
