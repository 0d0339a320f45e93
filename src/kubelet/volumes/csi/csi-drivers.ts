/** The CSI drivers of this node. Driven by their registration and its end. */
import type { Clock } from "../../../base/clock.ts";
import type { Client } from "../../../client/index.ts";
import type { Plugin, PluginHandler } from "../../plugins/plugin-watcher.ts";
import { CsiDriver } from "./csi-driver.ts";
import { announceDriver, announceNode, withdrawDriver } from "./node-drivers.ts";

export class CsiDrivers {
  readonly #clock: Clock;
  readonly #drivers = new Map<string, CsiDriver>();
  /** One change of the node's objects after the other. */
  #tail: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(name: string): CsiDriver | undefined {
    return this.#drivers.get(name);
  }

  /** Before the first driver comes. */
  announce(node: { readonly client: Client; readonly nodeName: string }, signal: AbortSignal): Promise<void> {
    return this.#inTurn(() => announceNode(node, signal));
  }

  handler(node: { readonly client: Client; readonly nodeName: string }): PluginHandler {
    return {
      register: async (plugin, signal) => {
        assertVersion(plugin);
        const driver = new CsiDriver({ ...plugin, clock: this.#clock });
        try {
          const info = await driver.info(signal);
          await this.#inTurn(() => announceDriver(plugin.name, info, node, signal));
        } catch (error) {
          driver.close();
          throw error;
        }
        this.#drivers.get(plugin.name)?.close();
        this.#drivers.set(plugin.name, driver);
      },
      deregister: async ({ name }) => {
        this.#drivers.get(name)?.close();
        this.#drivers.delete(name);
        await this.#inTurn(() => withdrawDriver(name, node));
      },
    };
  }

  close(): void {
    for (const driver of this.#drivers.values()) driver.close();
    this.#drivers.clear();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }
}

function assertVersion({ name, versions }: Plugin): void {
  if (versions.length === 0) throw new Error(`validation failed for CSI Driver ${name}: driver version is not specified`);
  if (versions.some((version) => /^v?1\.\d+(\.\d+)?$/.test(version))) return;
  throw new Error(`validation failed for CSI Driver ${name}: none of the CSI versions reported by this driver are supported`);
}
