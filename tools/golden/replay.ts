/** Replays recordings against running servers, with the engine that lies beside the recordings. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { askOptions, expectedOf, replayExchange, type ExchangeStep } from "./exchanges.ts";
import { comparedSteps, type Group, type Recording, type Scenario, type Step } from "./scenarios.ts";
import { startServer, type Server } from "./server.ts";
import type { FailedStep, FileResult } from "./verdict.ts";

export interface ReplayOptions {
  /** The folder of the recordings. */
  readonly folder: string;
  /** A server that runs already; without it servers are started as the recordings need. */
  readonly kubeconfig?: string | undefined;
  /** The kubectl for the kubectl sessions. */
  readonly kubectl: string;
  /** Recordings side by side on one server. */
  readonly parallel: number;
  /** Servers side by side for recordings that must be alone. */
  readonly servers: number;
  readonly fileTimeoutMs: number;
  /** No recording starts after this time, milliseconds since 1970. */
  readonly lastStart: number;
  onResult(result: FileResult): void;
}

/** Replays a group; every recording that is started gets a result, also when no server comes up. */
export async function replayGroup(group: Group, options: ReplayOptions): Promise<void> {
  const engine = await loadEngine(options.folder);
  const { kubectl, webhookAnswers } = group.recordings[0]!.scenario;
  const isSession = kubectl !== undefined;
  const replay = isSession ? replaySession : webhookAnswers !== undefined ? replayExchanges : replayRequests;
  const together = group.recordings.filter(({ scenario }) => scenario.alone === undefined);
  const alone = group.recordings.filter(({ scenario }) => scenario.alone !== undefined);
  const onServer = async (queue: Recording[], parallel: number, server: Server) => {
    await sideBySide(parallel, async () => {
      for (let next = queue.shift(); next !== undefined && Date.now() < options.lastStart; next = queue.shift()) {
        options.onResult(await replay(engine, next, server, options));
      }
    });
  };
  await withServer(group, options, together, (server) => onServer([...together], isSession ? 1 : options.parallel, server));
  const queue = [...alone];
  const servers = options.kubeconfig === undefined ? Math.min(options.servers, Math.ceil(alone.length / 4)) : 1;
  await sideBySide(servers, () => withServer(group, options, queue, (server) => onServer(queue, 1, server)));
}

/** Runs `work` with a server; when none comes up, what is in `queue` has failed. */
async function withServer(group: Group, options: ReplayOptions, queue: Recording[], work: (server: Server) => Promise<void>): Promise<void> {
  if (queue.length === 0) return;
  let server: Server;
  try {
    server = options.kubeconfig === undefined ? await startServer(group, options.folder) : { kubeconfig: options.kubeconfig, stop: async () => {} };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    for (const recording of queue.splice(0)) options.onResult(resultOf(recording, new Map(), message));
    return;
  }
  try {
    await work(server);
  } finally {
    await server.stop();
  }
}

async function replayRequests(engine: Engine, recording: Recording, server: Server, options: ReplayOptions): Promise<FileResult> {
  const outcomes: Outcomes = new Map();
  const timer = new AbortController();
  const client = stoppable(engine.clientFrom({ kubeconfig: server.tokenKubeconfig ?? server.kubeconfig }), timer.signal);
  const onStep = (step: Step, observed: unknown) => {
    if (step.expect === undefined) return;
    outcomes.set(step, outcomeOf(engine, step, JSON.parse(JSON.stringify(observed))));
  };
  const timeout = setTimeout(() => timer.abort(), options.fileTimeoutMs);
  try {
    if (recording.scenario.needs?.includes("issuer") === true) await untilFirstStepIsRight(engine, client, recording.scenario);
    await engine.run(client, recording.scenario, onStep, { patienceMs: 5000 });
    return resultOf(recording, outcomes);
  } catch (error) {
    return resultOf(recording, outcomes, timer.signal.aborted ? `stopped after ${options.fileTimeoutMs / 1000} s` : `stopped: ${String(error)}`);
  } finally {
    clearTimeout(timeout);
  }
}

/** One exchange after the other: what reaches the webhook belongs to the request that waits. */
async function replayExchanges(engine: Engine, recording: Recording, { kubeconfig, webhook }: Server, options: ReplayOptions): Promise<FileResult> {
  const outcomes: Outcomes = new Map();
  const end = Date.now() + options.fileTimeoutMs;
  try {
    for (const step of recording.scenario.steps as readonly ExchangeStep[]) {
      if (Date.now() > end) throw new Error(`no end after ${options.fileTimeoutMs / 1000} s`);
      const observed = await replayExchange(step, askOptions(kubeconfig), webhook!);
      outcomes.set(step, outcomeOf(engine, { ...step, expect: expectedOf(step) }, observed));
    }
    return resultOf(recording, outcomes);
  } catch (error) {
    return resultOf(recording, outcomes, `stopped: ${String(error)}`);
  }
}

async function replaySession(
  engine: Engine,
  recording: Recording,
  { kubeconfig }: Server,
  { kubectl, folder, fileTimeoutMs }: ReplayOptions,
): Promise<FileResult> {
  const outcomes: Outcomes = new Map();
  const end = Date.now() + fileTimeoutMs;
  const { run } = (await import(pathToFileURL(path.join(folder, "kubectl.mjs")).href)) as SessionEngine;
  const ask = (args: readonly string[]) => spawnSync(kubectl, args, { encoding: "utf8", env: { ...process.env, KUBECONFIG: kubeconfig } }).stdout;
  try {
    const server = ask(["config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"]);
    const minor = Number(JSON.parse(ask(["version", "--client", "-o", "json"])).clientVersion.minor.replace(/\D/g, ""));
    await run({ kubectl, kubeconfig, server, minor }, recording.scenario, async (step, first, again) => {
      if (Date.now() > end) throw new Error(`no end after ${fileTimeoutMs / 1000} s`);
      if (step.expect === undefined) return;
      let observed = first;
      const deadline = Date.now() + (step.settle === true ? 10_000 : 0);
      while (!isDeepStrictEqual(step.expect, observed) && Date.now() < deadline) {
        await wait(300);
        observed = await again();
      }
      outcomes.set(step, outcomeOf(engine, step, observed));
    });
    return resultOf(recording, outcomes);
  } catch (error) {
    return resultOf(recording, outcomes, `stopped: ${String(error)}`);
  }
}

/** The keys of an issuer are fetched in the background. */
async function untilFirstStepIsRight(engine: Engine, client: Client, scenario: Scenario): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    let isRight = true;
    await engine.run(client, { ...scenario, steps: scenario.steps!.slice(0, 1) }, (step, observed) => {
      isRight = engine.differences(step.expect, JSON.parse(JSON.stringify(observed))).length === 0;
    });
    if (isRight) return;
    await wait(200);
  }
}

/** By compared step: undefined when it was right, or else where it differs. */
type Outcomes = Map<Step, string | undefined>;

function outcomeOf(engine: Engine, step: Step, observed: unknown): string | undefined {
  const found = engine.differences(step.expect, observed);
  if (found.length === 0) return undefined;
  const request = step.do ?? step.watch ?? step.until;
  const what =
    step.args !== undefined
      ? `kubectl ${step.args.join(" ")}`
      : request !== undefined
        ? `${"method" in request ? (request.method ?? "GET") : "WATCH"} ${request.path}`
        : (step.quiet?.lists ?? []).join(" ");
  const lines = found.slice(0, 6).map(({ where, expected, actual }) => `    ${where}: expected ${short(expected)}, got ${short(actual)}`);
  return [`${step.say ?? ""} ${what}`.trim(), ...lines].join("\n");
}

/** Steps that were not reached have failed when there is a reason; else they are not for us (those of a newer kubectl). */
function resultOf(recording: Recording, outcomes: Outcomes, notReached?: string): FileResult {
  const failed: FailedStep[] = [];
  let passed = 0;
  for (const [index, step] of comparedSteps(recording.scenario).entries()) {
    const detail = outcomes.has(step) ? outcomes.get(step) : notReached;
    if (detail !== undefined) failed.push({ step: index + 1, detail });
    else if (outcomes.has(step)) passed++;
  }
  return { file: recording.file, area: recording.area, passed, failed };
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The engine cannot be told to stop: a client that refuses ends its run. */
function stoppable(client: Client, signal: AbortSignal): Client {
  return {
    request: (request) => (signal.aborted ? Promise.reject(signal.reason) : client.request(request)),
    watch: (request) => {
      signal.throwIfAborted();
      return client.watch(request);
    },
  };
}

async function sideBySide(count: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, work));
}

interface Client {
  request(request: unknown): Promise<unknown>;
  watch(request: unknown): unknown;
}

/** What golden.mjs exports. */
interface Engine {
  clientFrom(options: { kubeconfig: string }): Client;
  run(client: Client, scenario: Scenario, onStep: (step: Step, observed: unknown) => void, options?: { patienceMs: number }): Promise<void>;
  differences(expected: unknown, actual: unknown): readonly { where: string; expected: unknown; actual: unknown }[];
}

/** What kubectl.mjs exports. */
interface SessionEngine {
  run(
    at: { kubectl: string; kubeconfig: string; server: string; minor: number },
    scenario: Scenario,
    onStep: (step: Step, observed: unknown, again: () => Promise<unknown>) => Promise<void>,
  ): Promise<void>;
}

async function loadEngine(folder: string): Promise<Engine> {
  return (await import(pathToFileURL(path.join(folder, "golden.mjs")).href)) as Engine;
}
