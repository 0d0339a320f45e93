/**
 * `npm run bench testing`: what a test pays for a cluster of its own (`startCluster`): time to the first and to further ones, memory of each
 * of a hundred, and a test that creates a Deployment of three and waits until it is settled. Exits 1 over the budget.
 */
import { startCluster } from "../../src/testing/index.ts";
import type { Cluster } from "../../src/testing/index.ts";

const budgetMs = 50;
const many = 100;
const rounds = 30;

const [first, firstMs] = await timed(() => startCluster());
await first.close();
// The compiler knows the code by then, as in the later tests of a file.
for (let round = 0; round < rounds; round++) await (await startCluster()).close();
const starts: number[] = [];
const startsCpu: number[] = [];
const tests: number[] = [];
for (let round = 0; round < rounds; round++) {
  const cpu = process.threadCpuUsage();
  const [cluster, startMs] = await timed(() => startCluster({ seed: round + 1 }));
  starts.push(startMs);
  const { user, system } = process.threadCpuUsage(cpu);
  startsCpu.push((user + system) / 1000);
  const [, testMs] = await timed(() => deployAndSettle(cluster));
  tests.push(testMs);
  await cluster.close();
}
globalThis.gc?.();
const bytesBefore = process.memoryUsage().rss;
const [clusters, manyMs] = await timed(() => Promise.all(Array.from({ length: many }, (_, seed) => startCluster({ seed }))));
globalThis.gc?.();
const memoryKib = (process.memoryUsage().rss - bytesBefore) / 1024 / many;
const [, manyTestsMs] = await timed(() => Promise.all(clusters.map(deployAndSettle)));
await Promise.all(clusters.map((cluster) => cluster.close()));

const startMs = median(starts);
const startCpuMs = median(startsCpu);
console.table([
  { what: "the first cluster of a process", ms: firstMs.toFixed(0) },
  { what: `a further one, median of ${rounds} (worst)`, ms: `${startMs.toFixed(1)} (${Math.max(...starts).toFixed(1)})`, budget: budgetMs },
  { what: "the same, time of the processor", ms: startCpuMs.toFixed(1), budget: budgetMs },
  { what: "Deployment of 3 created, settled, median", ms: median(tests).toFixed(1) },
  { what: `${many} at once, per cluster`, ms: (manyMs / many).toFixed(1), KiB: memoryKib.toFixed(0) },
  { what: `the same test in ${many} at once, per cluster`, ms: (manyTestsMs / many).toFixed(1) },
]);
console.log(
  JSON.stringify({
    firstMs,
    startMs,
    startCpuMs,
    worstMs: Math.max(...starts),
    testMs: median(tests),
    manyMs: manyMs / many,
    manyTestsMs: manyTestsMs / many,
    memoryKib,
  }),
);
// One thread does it all and waits for nothing: where other jobs share the machine, its own time is what it would take alone.
process.exit(Math.min(startMs, startCpuMs) > budgetMs ? 1 : 0);

async function deployAndSettle(cluster: Cluster): Promise<void> {
  const labels = { app: "web" };
  const spec = { replicas: 3, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx" }] } } };
  await cluster.apply({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec });
  await cluster.settled();
}

async function timed<T>(work: () => Promise<T>): Promise<[result: T, ms: number]> {
  const from = performance.now();
  return [await work(), performance.now() - from];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
