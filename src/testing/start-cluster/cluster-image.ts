/**
 * What a settled cluster's store holds, made once per process and kind of cluster: each further cluster starts with it, and neither the
 * server's start-up steps nor the controllers nor the nodes have anything left to write. It is always made from the same seed, so that a
 * cluster is the same whether it is the first of its process or the hundredth.
 */
import { systemClock } from "../../base/clock.ts";
import type { StoreImage } from "../../storage/index.ts";
import { TestCluster } from "../cluster.ts";
import { controllers, scheduler, SimulatedNode, storage } from "./control-plane.ts";

export interface ImageOptions {
  /** When clusters begin that start with it, in ms since 1970; `now`: at the machine's time, each at its own. */
  readonly startMs: number | "now";
  readonly nodes: number;
}

/** The image of such a cluster; made on first use, and shared by those who ask meanwhile. */
export function clusterImage(options: ImageOptions): Promise<StoreImage> {
  const key = `${options.startMs}/${options.nodes}`;
  const known = images.get(key);
  if (known !== undefined) return known;
  if (images.size >= keptImages) images.delete(images.keys().next().value!);
  const made = makeImage(options);
  images.set(key, made);
  made.catch(() => images.delete(key));
  return made;
}

const keptImages = 8;
const images = new Map<string, Promise<StoreImage>>();

/** The cluster is this old when others begin with it. */
const ageMs = 60_000;

async function makeImage({ startMs, nodes }: ImageOptions): Promise<StoreImage> {
  const beginMs = startMs === "now" ? systemClock().nowMs() : startMs;
  const machines = Array.from({ length: nodes }, (_, index) => new SimulatedNode(index));
  const components = {
    controllers: controllers(["*"], () => undefined),
    scheduler: scheduler(() => undefined),
    storage,
    ...Object.fromEntries(machines.map(({ name, kubelet }) => [name, kubelet])),
  };
  await using cluster = await TestCluster.start({ seed: imageSeed, startMs: beginMs - ageMs, components });
  await cluster.advance(ageMs);
  const { items, revision } = await cluster.image();
  // Events would expire in a store that knows when they were made.
  return { items: items.filter(({ key }) => !key.startsWith("/registry/events/")), revision };
}

const imageSeed = 0x636f7261;
