import { invariant } from "../base/invariant.ts";
import { isObject } from "../apimachinery/json.ts";
import { yamlToJson } from "../apimachinery/yaml/yaml.ts";
import { discoverResources, resourceLabel, resourceOfKind, splitKey } from "../client/index.ts";
import { parseApiVersion } from "../apimachinery/object.ts";
import type { ScenarioTrace } from "./scenario-trace.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { DeleteOptions, DiscoveredResource, ResourceType } from "../client/index.ts";
import type { TestCluster } from "./cluster.ts";
import type { HollowNodes } from "./hollow-nodes.ts";

/**
 * Runs the script of a scenario on a cluster and returns the trace: what every client wrote and when, in the order the server saw it,
 * with the script's own lines in between. One command a line; lines that are indented belong to the command before them.
 *
 *   create                                      an object in YAML, indented
 *   patch deployments.apps default/web {…}      a merge patch (`status pods default/x {…}` for the status, `resize` for the size)
 *   delete pods default/web [Foreground|Orphan|Background]
 *   settle [60s]                                until nobody writes any more, for at least that long
 *   advance 5m
 *   silence n1, wake n1                         a node stops beating, and beats again
 *   show pods default status.phase spec.nodeName
 */
export async function runScenario(script: string, stage: ScenarioStage): Promise<string> {
  const resources = await discoverResources(stage.cluster.client);
  for (const command of commandsOf(script)) {
    stage.trace.say(`> ${command.words.join(" ")}`);
    await run(command, stage, resources);
  }
  return stage.trace.text();
}

export interface ScenarioStage {
  readonly cluster: TestCluster;
  readonly nodes: HollowNodes;
  readonly trace: ScenarioTrace;
}

interface Command {
  readonly words: readonly string[];
  /** Everything after the first words, as it is written. */
  readonly line: string;
  readonly block: string;
}

async function run({ words, line, block }: Command, { cluster, nodes, trace }: ScenarioStage, resources: readonly DiscoveredResource[]): Promise<void> {
  const { client } = cluster;
  const [name = "", first = "", second = "", third] = words;
  switch (name) {
    case "create": {
      const object = yamlToJson(new TextEncoder().encode(block)) as unknown as KubeObject;
      const { group, version } = parseApiVersion(object.apiVersion ?? "")!;
      const resource = resourceOfKind(resources, { group, version, kind: object.kind ?? "" });
      invariant(resource !== undefined, `no resource is served for ${object.kind}`);
      await client.create(resource, object);
      return cluster.turn();
    }
    case "patch":
    case "status":
    case "resize": {
      const { namespace, name: object } = splitKey(trace.realName(second));
      const body: unknown = JSON.parse(line.slice(line.indexOf("{")));
      await client.patch(found(resources, first), namespace, object, {
        type: name === "resize" ? "strategic" : "merge",
        body,
        ...(name !== "patch" && { subresource: name }),
      });
      return cluster.turn();
    }
    case "delete": {
      const { namespace, name: object } = splitKey(trace.realName(second));
      const options: DeleteOptions = third === undefined ? {} : { propagationPolicy: third as "Foreground" | "Orphan" | "Background" };
      await client.delete(found(resources, first), namespace, object, options);
      return cluster.turn();
    }
    case "settle":
      await cluster.settled(first === "" ? {} : { quietMs: durationMs(first) });
      return;
    case "advance":
      return cluster.advance(durationMs(first));
    case "silence":
      return nodes.silence(first);
    case "wake":
      return nodes.wake(first);
    case "show": {
      const { items } = await client.list(found(resources, first), second === "-" ? "" : second);
      trace.sayAll(items.map((item) => `  ${[item.metadata.name, ...words.slice(3).map((path) => `${path}=${textAt(item, path)}`)].join(" ")}`));
      return;
    }
    default:
      throw new Error(`no command ${name}`);
  }
}

function commandsOf(script: string): Command[] {
  const commands: { words: string[]; line: string; block: string }[] = [];
  for (const line of script.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    if (/^\s/.test(line)) commands.at(-1)!.block += `${line}\n`;
    else commands.push({ words: line.trim().split(/\s+/), line, block: "" });
  }
  return commands;
}

function found(resources: readonly DiscoveredResource[], label: string): ResourceType {
  const resource = resources.find(({ type }) => resourceLabel(type) === label)?.type;
  invariant(resource !== undefined, `no resource ${label} is served`);
  return resource;
}

/** The value at a dotted path; `status.conditions[Ready]` is the status of that condition. */
function textAt(object: unknown, path: string): string {
  let value: unknown = object;
  for (const part of path.split(".")) {
    const match = /^(\w+)\[(\w+)\]$/.exec(part);
    value = isObject(value) ? value[match?.[1] ?? part] : undefined;
    if (match !== null && Array.isArray(value)) {
      const condition = value.find((item) => isObject(item) && item.type === match[2]) as { status?: string; reason?: string } | undefined;
      value = condition && `${condition.status}/${condition.reason ?? ""}`;
    }
  }
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "-");
}

function durationMs(text: string): number {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text);
  invariant(match !== null, `${text} is no duration`);
  return Number(match[1]) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match[2] as "ms" | "s" | "m" | "h" | "d"];
}
