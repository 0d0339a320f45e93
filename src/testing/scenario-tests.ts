import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { equal } from "node:assert/strict";
import { runControllers } from "../controllers/index.ts";
import { quotaRules } from "../cluster/components/apiserver/quota-rules.ts";
import { testAuthority } from "./authority.ts";
import { TestCluster } from "./cluster.ts";
import { HollowNodes } from "./hollow-nodes.ts";
import { runScenario } from "./scenario.ts";
import { ScenarioTrace } from "./scenario-trace.ts";
import type { ClusterComponent } from "./component.ts";
import type { HollowNodeOptions } from "./hollow-nodes.ts";

/**
 * A test for every `scenarios/*.txt` of a folder: script, a line `---`, and the whole trace it must give. With `UPDATE_GOLDEN=1` the trace
 * is written instead. The cluster has an API server, the controllers, and three hollow nodes that bind pods themselves.
 */
export function scenarioTests(folder: string, options: ScenarioOptions = {}): void {
  for (const file of readdirSync(join(folder, "scenarios")).filter((name) => name.endsWith(".txt"))) {
    test(`scenario ${basename(folder)}/${file}`, async () => {
      const path = join(folder, "scenarios", file);
      const [script = "", expected = ""] = readFileSync(path, "utf8").split(/^---\n/m);
      const trace = await traceOf(script, options);
      if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, `${script}---\n${trace}`);
      else equal(trace, expected);
    });
  }
}

export interface ScenarioOptions {
  /** Default n1, n2, n3. */
  readonly nodes?: readonly string[];
  readonly hollow?: HollowNodeOptions;
  /** As `--controllers`; default all. */
  readonly controllers?: readonly string[];
}

async function traceOf(script: string, options: ScenarioOptions): Promise<string> {
  const nodes = new HollowNodes(options.nodes ?? ["n1", "n2", "n3"], options.hollow ?? { bindsPods: true });
  const trace = new ScenarioTrace();
  const controllers: ClusterComponent = (context) =>
    runControllers({
      ...context,
      caBundle: testAuthority,
      quotaRules,
      flags: new Map(),
      ...(options.controllers !== undefined && { selection: options.controllers }),
    });
  await using cluster = await TestCluster.start({ components: { nodes: nodes.run, controllers }, onRequest: trace.observe });
  await cluster.settled();
  trace.attach(cluster.clock);
  return await runScenario(script, { cluster, nodes, trace });
}
