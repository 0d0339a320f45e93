/** A cluster with the operator and simulated PostgreSQL, as the tests use it. */
import { Client, InformerSet, resources } from "coracle/client";
import { sleep, startCluster, seededRandom } from "coracle/testing";
import type { Cluster, ClusterComponent, Random, StartClusterOptions } from "coracle/testing";
import { isConditionTrue } from "coracle/operator";
import { databaseOperator } from "../operator.ts";
import { databases, labels } from "../resources.ts";
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
  cluster.start("postgres", servers(world));
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

/** The instances are the pods of databases, and time passes in them as it does in the cluster. */
function servers(world: SimulatedPostgres): ClusterComponent {
  return async ({ transportFor, clock, random, log, signal }) => {
    const client = new Client({ transport: transportFor({ username: "world", groups: ["system:masters"] }), clock, userAgent: "world" });
    await using informers = new InformerSet({ client, clock, random, log });
    informers.get(resources.pods, { labelSelector: labels.database }).subscribe(({ kind, object: { metadata, status } }) => {
      const isRunning = kind !== "delete" && metadata.deletionTimestamp === undefined && status?.phase === "Running";
      if (isRunning) world.podRuns(metadata.name!, metadata.uid!);
      else world.podEnds(metadata.name!, metadata.uid!);
    });
    while (!signal.aborted) {
      world.tick(clock.nowMs());
      await sleep(clock, tickMs, signal).catch(() => undefined);
    }
  };
}

const tickMs = 250;

export function orders(spec: Partial<MyDatabase["spec"]> = {}, name = "orders"): MyDatabase {
  return databases.object({ name, namespace: "default" }, { version: "15.5", replicas: 3, ...spec });
}
