import { isAbort } from "../../base/task-group.ts";
import { deadline } from "../../base/clock.ts";
import { timeoutMsOf } from "./configuration.ts";
import { bindingMessage, nodesMessage, preemptionMessage, readBindingError, readFilterAnswer, readPriorities, readVictims } from "./wire.ts";
import type { Clock } from "../../base/clock.ts";
import type { Candidate } from "../framework/decision.ts";
import type { NodeInfo } from "../state/node-info.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { ExtenderConfiguration, ExtenderTls } from "./configuration.ts";
import type { FilterAnswer } from "./wire.ts";

/** Sends a POST to an extender. Rejects when there is no answer; redirects are not followed. */
export type ExtenderPost = (request: ExtenderRequest, signal: AbortSignal) => Promise<{ readonly status: number; readonly body: Uint8Array }>;
/** A POST to an extender. */
export interface ExtenderRequest {
  readonly url: string;
  readonly body: Uint8Array;
  readonly tls: ExtenderTls | undefined;
}

/** A program beside the scheduler that has a say in its decisions, over HTTP (Kubernetes documentation, "Scheduler extender"). */
export class Extender {
  readonly name: string;
  readonly isIgnorable: boolean;
  readonly weight: number;
  readonly #configuration: ExtenderConfiguration;
  readonly #post: ExtenderPost;
  readonly #clock: Clock;
  readonly #managed: ReadonlySet<string>;

  constructor(configuration: ExtenderConfiguration, { post, clock }: { post: ExtenderPost; clock: Clock }) {
    this.name = configuration.urlPrefix ?? "";
    this.isIgnorable = configuration.ignorable === true;
    this.weight = configuration.weight ?? 1;
    this.#configuration = configuration;
    this.#post = post;
    this.#clock = clock;
    this.#managed = new Set(configuration.managedResources?.map(({ name }) => name));
  }

  get filters(): boolean {
    return isVerb(this.#configuration.filterVerb);
  }
  get prioritizes(): boolean {
    return isVerb(this.#configuration.prioritizeVerb);
  }
  get binds(): boolean {
    return isVerb(this.#configuration.bindVerb);
  }
  get preempts(): boolean {
    return isVerb(this.#configuration.preemptVerb);
  }

  /** One that manages resources is asked only about pods that ask for any of them. */
  isInterested({ pod }: PodInfo): boolean {
    if (this.#managed.size === 0) return true;
    const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    return containers.some(({ resources }) => Object.keys({ ...resources?.requests, ...resources?.limits }).some((name) => this.#managed.has(name)));
  }

  async filter({ pod }: PodInfo, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<FilterAnswer> {
    const answer = readFilterAnswer(await this.#ask(this.#configuration.filterVerb, nodesMessage(pod, nodes, this.#isByName), signal), this.#isByName);
    if (answer.error !== "") throw new Error(answer.error);
    const known = new Set(nodes.map(({ name }) => name));
    const stranger = answer.nodeNames.find((name) => !known.has(name));
    if (stranger !== undefined)
      throw new Error(`extender ${JSON.stringify(this.name)} claims a filtered node ${JSON.stringify(stranger)} which is not found in the input node list`);
    return answer;
  }

  /** Points by node, 0 to 10, not weighted. */
  async prioritize({ pod }: PodInfo, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return readPriorities(await this.#ask(this.#configuration.prioritizeVerb, nodesMessage(pod, nodes, this.#isByName), signal));
  }

  async bind({ pod }: PodInfo, nodeName: string, signal: AbortSignal): Promise<void> {
    const error = readBindingError(await this.#ask(this.#configuration.bindVerb, bindingMessage(pod, nodeName), signal));
    if (error !== "") throw new Error(error);
  }

  /** Which of the candidates may be made free, and by whose leaving. */
  async preempt(
    { pod }: PodInfo,
    candidates: readonly Candidate[],
    { snapshot, signal }: { snapshot: Snapshot; signal: AbortSignal },
  ): Promise<readonly Candidate[]> {
    const victims = readVictims(await this.#ask(this.#configuration.preemptVerb, preemptionMessage(pod, candidates, this.#isByName), signal));
    return Array.from(victims, ([nodeName, { uids, violations }]) => {
      const node = snapshot.node(nodeName);
      const pods = uids.map((uid) => node?.pods.find((one) => one.uid === uid));
      const isKnown = pods.every((one) => one !== undefined);
      if (node === undefined || !isKnown) throw new Error(`extender: ${this.name} claims to preempt pods on node: ${nodeName}, but they are not there`);
      return { nodeName, victims: pods, violations };
    });
  }

  get #isByName(): boolean {
    return this.#configuration.nodeCacheCapable === true;
  }

  async #ask(verb: string | undefined, message: object, signal: AbortSignal): Promise<unknown> {
    const url = `${this.name.replace(/\/+$/, "")}/${verb}`;
    const time = deadline(this.#clock, timeoutMsOf(this.#configuration), signal);
    try {
      const { status, body } = await this.#post({ url, body: Buffer.from(JSON.stringify(message)), tls: this.#configuration.tlsConfig }, time.signal);
      if (status !== 200) throw new Error(`failed ${verb} with extender at URL ${url}, code ${status}`);
      return JSON.parse(Buffer.from(body).toString()) as unknown;
    } catch (error) {
      if (!signal.aborted && isAbort(error, time.signal)) throw new Error(`Post ${JSON.stringify(url)}: context deadline exceeded`, { cause: error });
      throw error;
    } finally {
      time.cancel();
    }
  }
}

function isVerb(verb: string | undefined): boolean {
  return verb !== undefined && verb !== "";
}
