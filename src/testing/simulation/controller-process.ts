/**
 * The controllers as a process that dies: before or after any of its writes, from a seed; a second or more later it starts again and knows
 * nothing. Its line to the API server has faults of its own. Driven by the simulation, which ends the faults with `calm`.
 * Invariant: once dead, a process writes nothing more.
 */
import { sleep } from "../../base/clock.ts";
import { invariant } from "../../base/invariant.ts";
import { isAbort } from "../../base/task-group.ts";
import { quotaRules } from "../../cluster/components/apiserver/quota-rules.ts";
import { builtInControllers, runControllers, selectControllers } from "../../controllers/index.ts";
import { testAuthority } from "../authority.ts";
import { isWrite } from "../counted-handler.ts";
import { FaultTransport } from "../fault-transport.ts";
import { Faults } from "../faults.ts";
import { plantedTransport } from "./planted-transport.ts";
import type { Random } from "../../base/random.ts";
import type { ControllerEntry, ControllerRunOptions, ManagerFlags } from "../../controllers/index.ts";
import type { Transport } from "../../apimachinery/request.ts";
import type { ComponentContext } from "../component.ts";
import type { FaultyRequest, TransportFault } from "../fault-transport.ts";
import type { Planted } from "./planted-transport.ts";

export class ControllerProcess {
  readonly #options: ControllerProcessOptions;
  readonly #crashes: Faults<"crashBefore" | "crashAfter">;
  readonly #lines: FaultTransport[] = [];
  #isCalm = false;
  #struck = 0;
  #unknownCreates = 0;

  constructor(options: ControllerProcessOptions) {
    this.#options = options;
    this.#crashes = new Faults(options.random, { crashBefore: 0.02, crashAfter: 0.02 });
  }

  /** Creations that may have happened without the controller hearing of it: each may stand for one object too many. */
  get unknownCreates(): number {
    return this.#unknownCreates;
  }

  /** How many faults there were. */
  get faults(): number {
    return this.#struck + this.#crashes.count("crashBefore") + this.#crashes.count("crashAfter");
  }

  calm(): void {
    this.#isCalm = true;
    for (const line of this.#lines) line.calm();
  }

  readonly run = async (context: ComponentContext & { readonly signal: AbortSignal }): Promise<void> => {
    const { signal, clock } = context;
    const { controllers, flags = {}, credentials = {}, random } = this.#options;
    const managerFlags: ManagerFlags = new Map(Object.entries(flags).map(([name, value]) => [name, [value]]));
    const shared = { caBundle: testAuthority, quotaRules, flags: managerFlags, ...credentials };
    const first = writerOf(selectControllers(builtInControllers(shared), controllers.slice(0, 1))[0]);
    while (!signal.aborted) {
      const death = new AbortController();
      const life = AbortSignal.any([signal, death.signal]);
      const transportFor: ComponentContext["transportFor"] = (user) =>
        this.#mortal(this.#line(context.transportFor(user), user.username === first, context), death);
      try {
        await runControllers({ ...context, ...shared, transportFor, signal: life, selection: controllers });
      } catch (error) {
        if (!isAbort(error, life)) throw error;
      }
      if (!signal.aborted) await sleep(clock, 1000 + random.integer(4000), signal).catch(() => undefined);
    }
  };

  #line(transport: Transport, isFirst: boolean, { clock }: ComponentContext): Transport {
    const onFault = (kind: TransportFault, { method }: FaultyRequest) => {
      this.#struck += 1;
      if (method === "POST" && (kind === "dropAnswer" || kind === "repeat")) this.#unknownCreates += 1;
    };
    const { planted, random, rates } = this.#options;
    const send = planted === undefined ? transport : plantedTransport(transport, { ...planted, isWriter: isFirst, random, clock });
    const line = new FaultTransport(send, { random, clock, rates: { ...usualRates, ...rates }, maxDelayMs: 2000, chunksBeforeBreak: 2, onFault });
    if (this.#isCalm) line.calm();
    this.#lines.push(line);
    return line.send;
  }

  #mortal(send: Transport, death: AbortController): Transport {
    const die = (): never => {
      death.abort(new DOMException("the process died (injected)", "AbortError"));
      throw death.signal.reason;
    };
    return async (request) => {
      death.signal.throwIfAborted();
      if (isWrite(request)) this.#options.onWrite?.(request);
      const isMortal = isWrite(request) && !this.#isCalm && !request.path.includes("/events");
      if (isMortal && this.#crashes.strikes("crashBefore")) die();
      const response = await send({ ...request, signal: AbortSignal.any([request.signal, death.signal]) });
      if (isMortal && this.#crashes.strikes("crashAfter")) die();
      return response;
    };
  }
}

export interface ControllerProcessOptions {
  /** As `--controllers`. */
  readonly controllers: readonly string[];
  /** Flags of the controller manager by name. */
  readonly flags?: Readonly<Record<string, string>>;
  /** What some of them sign with. */
  readonly credentials?: Pick<ControllerRunOptions, "signer" | "serviceAccountKey"> | undefined;
  /** Faults of the line that strike at another rate than usual, from 0 to 1. */
  readonly rates?: Partial<Record<TransportFault, number>>;
  readonly random: Random;
  /** A fault in the first of the controllers itself. */
  readonly planted?: Planted | undefined;
  /** Hears of every write before it is sent. */
  readonly onWrite?: (request: FaultyRequest) => void;
}

/** The user as whom a controller writes. */
function writerOf(entry: ControllerEntry | undefined): string {
  invariant(entry !== undefined, "there is no such controller");
  return entry.isManager === true ? "system:kube-controller-manager" : `system:serviceaccount:kube-system:${entry.create().account}`;
}

const usualRates: Record<TransportFault, number> = {
  dropRequest: 0.03,
  dropAnswer: 0.03,
  repeat: 0.03,
  delay: 0.05,
  refuse: 0.04,
  conflict: 0.04,
  expire: 0.3,
  breakStream: 0.3,
  lag: 0.1,
  repeatChunk: 0.1,
};
