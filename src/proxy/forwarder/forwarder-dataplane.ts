import { readFile } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { Dataplane } from "../dataplane.ts";
import type { ServicePlan } from "../plan.ts";
import { BackendChooser } from "./choose-backend.ts";
import { listenPlan } from "./listen-plan.ts";
import type { Listen } from "./listen-plan.ts";
import { listenTcp } from "./tcp-forwarder.ts";
import { listenUdp } from "./udp-forwarder.ts";

/**
 * The dataplane without root: our process listens for every Service on loopback addresses (`listen-plan.ts` tells which). A place that
 * is taken is reported and tried again with the Service's next change. Closing it ends every connection.
 */
export function createForwarderDataplane(options: ForwarderOptions): Dataplane {
  const open = new Map<string, Place>();
  const placesOf = new Map<string, readonly string[]>();
  let firstBindablePort: number | undefined;

  const put = async (name: string, plan: ServicePlan | undefined) => {
    firstBindablePort ??= await readFirstBindablePort();
    const { instanceId, places = listenPlan } = options;
    const wanted = new Map((plan === undefined ? [] : places(plan, { instanceId, firstBindablePort })).map((listen) => [placeKey(listen), listen]));
    for (const key of placesOf.get(name) ?? []) {
      if (wanted.has(key)) continue;
      await open.get(key)?.close();
      open.delete(key);
    }
    const held: string[] = [];
    for (const [key, listen] of wanted) if (await serve(name, key, listen)) held.push(key);
    if (held.length === 0) placesOf.delete(name);
    else placesOf.set(name, held);
  };

  const serve = async (name: string, key: string, listen: Listen): Promise<boolean> => {
    const known = open.get(key);
    if (known !== undefined && known.owner !== name) {
      options.log.warn("Another Service is forwarded at this place already", { service: name, place: key, owner: known.owner });
      return false;
    }
    const chooser = known?.chooser ?? new BackendChooser(options);
    chooser.set(listen.backends, listen.affinitySeconds);
    if (known !== undefined) return true;
    try {
      const { close } = listen.protocol === "tcp" ? await listenTcp(listen, chooser) : await listenUdp(listen, chooser, options.clock);
      open.set(key, { owner: name, chooser, close });
      return true;
    } catch (error) {
      options.log.warn("Could not forward a Service: its place is taken or refused", { service: listen.service, place: key, error });
      return false;
    }
  };

  return {
    async replaceAll(plans) {
      for (const name of placesOf.keys()) if (!plans.has(name)) await put(name, undefined);
      for (const [name, plan] of plans) await put(name, plan);
    },
    async change(plans) {
      for (const [name, plan] of plans) await put(name, plan);
    },
    async close() {
      await Promise.all([...open.values()].map((place) => place.close()));
      open.clear();
      placesOf.clear();
    },
  };
}

export interface ForwarderOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly instanceId: string;
  /** Where to listen for a Service; default: everywhere that stands for its addresses. */
  readonly places?: typeof listenPlan;
}

interface Place {
  readonly owner: string;
  readonly chooser: BackendChooser;
  close(): Promise<void>;
}

const placeKey = ({ protocol, address, port }: Listen) => `${protocol} ${address}:${port}`;

/** The lowest port that this process may listen on: 0 for root; where the kernel does not tell, the usual limit. */
export async function readFirstBindablePort(): Promise<number> {
  if (process.geteuid?.() === 0) return 0;
  const text = await readFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8").catch(() => "1024");
  return Number(text.trim());
}
