/**
 * Flows of UDP that lead to a backend a Service no longer has: the kernel would go on sending their datagrams there as long as the client
 * repeats them from the same port, so they are made to be forgotten. (A flow of TCP ends by itself, with its connection.)
 */
import { ProgramError } from "../../host/index.ts";
import type { Programs } from "../../host/index.ts";
import type { Log } from "../../base/log.ts";
import type { Frontend, ServicePlan } from "../plan.ts";

export interface StaleFlows {
  /** Empty: any address of the node. */
  readonly address: string;
  readonly port: number;
  readonly backend: string;
}

/** What was led to a backend before and is not any more. Pure. */
export function staleFlows(before: ServicePlan | undefined, after: ServicePlan | undefined): StaleFlows[] {
  const now = new Map((after?.frontends ?? []).map((frontend) => [keyOf(frontend), addressesOf(frontend)]));
  return (before?.frontends ?? [])
    .filter(({ protocol }) => protocol === "udp")
    .flatMap((frontend) => {
      const kept = now.get(keyOf(frontend)) ?? new Set();
      const { address, port } = frontend;
      return [...addressesOf(frontend)].filter((backend) => !kept.has(backend)).map((backend) => ({ address, port, backend }));
    });
}

export class FlowTable {
  readonly #programs: Programs;
  readonly #log: Log;
  #isMissing = false;

  constructor({ programs, log }: { readonly programs: Programs; readonly log: Log }) {
    this.#programs = programs;
    this.#log = log;
  }

  /** Makes the kernel forget them. Without the program `conntrack` they end by their own time-out; that is told once. */
  async forget(flows: readonly StaleFlows[]): Promise<void> {
    for (const { address, port, backend } of flows) {
      if (this.#isMissing) return;
      const args = [
        "--delete",
        "--proto",
        "udp",
        "--orig-port-dst",
        String(port),
        "--reply-src",
        backend,
        ...(address === "" ? [] : ["--orig-dst", address]),
        ...(backend.includes(":") ? ["--family", "ipv6"] : []),
      ];
      try {
        // (Its exit code tells whether there was any such flow.)
        await this.#programs.run({ command: "conntrack", args, timeoutMs: 10_000 });
      } catch (error) {
        if (!(error instanceof ProgramError && error.reason === "ENOENT")) throw error;
        this.#isMissing = true;
        this.#log.warn("Flows of UDP to backends that are gone end late here: the program conntrack is missing", { package: "conntrack" });
      }
    }
  }
}

function keyOf({ kind, address, protocol, port, family }: Frontend): string {
  return `${kind} ${address} ${protocol} ${port} ${family}`;
}

function addressesOf({ backends, insideBackends = [] }: Frontend): Set<string> {
  return new Set([...backends, ...insideBackends].map(({ address }) => address));
}
