/**
 * Container events from containerd's event service, in order of their arrival. An event is passed on once CRI's status shows it
 * (its bookkeeping hears the same events, slightly later than we do). Broken streams are opened again; each start says RELIST.
 * `pods` remembers which sandbox a container is in, as containerd's events do not say.
 */
import { MessageCodec } from "../../../apimachinery/protobuf/messages.ts";
import type { MessageFacts } from "../../../apimachinery/protobuf/messages.ts";
import { sleep } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ContainerEvent, RuntimeService } from "../cri.ts";
import { isRuntimeNotFound } from "../cri.ts";
import containerdTables from "../data/containerd-v1.json" with { type: "json" };
import type { GrpcConnection, GrpcService } from "./grpc.ts";

export async function* containerdEvents(options: EventSource): AsyncGenerator<ContainerEvent> {
  const { signal, clock } = options;
  const events = options.connection.service("containerd.services.events.v1.Events", tables, { "containerd-namespace": "k8s.io" });
  const pods = new Map<string, Pod>();
  while (!signal.aborted) {
    try {
      yield* subscription({ ...options, events, pods });
    } catch {
      // containerd is restarting or gone: the RELIST after the gap repairs what was missed.
    }
    await sleep(clock, 500, signal).catch(() => {});
  }
}

export interface EventSource {
  readonly connection: GrpcConnection;
  readonly clock: Clock;
  readonly runtime: RuntimeService;
  readonly signal: AbortSignal;
}

type Pod = { pod_sandbox_id: string; pod_uid: string };
type Subscription = EventSource & { events: GrpcService; pods: Map<string, Pod> };
type Change = Pick<ContainerEvent, "type" | "container_id">;

const tables = containerdTables as unknown as MessageFacts;
const codec = new MessageCodec(tables);

/**
 * containerd does not say when a subscription has begun, so we publish an event of our own until it comes back: what follows is complete.
 */
async function* subscription(source: Subscription): AsyncGenerator<ContainerEvent> {
  const { events, signal, pods } = source;
  const request = { message: "SubscribeRequest", value: { filters: [] } };
  let hasBegun = false;
  const stop = new AbortController();
  const stream = events.subscribe("Subscribe", request, "Envelope", AbortSignal.any([signal, stop.signal]));
  const announcing = announce(source, () => hasBegun || stop.signal.aborted);
  try {
    for await (const envelope of stream) {
      if (envelope["topic"] === markTopic) {
        if (!hasBegun) {
          hasBegun = true;
          await learnPods(source);
          yield { type: "RELIST", container_id: "", pod_sandbox_id: "", pod_uid: "" };
        }
        continue;
      }
      const change = hasBegun ? changeOf(envelope) : undefined;
      if (change === undefined) continue;
      const pod = await settle(change, source);
      if (change.type === "CONTAINER_DELETED") pods.delete(change.container_id);
      if (pod !== undefined) yield { ...change, ...pod };
    }
  } finally {
    stop.abort();
    await announcing;
  }
}

const markTopic = "/coracle/subscribed";

async function announce({ events, clock, signal }: Subscription, hasBegun: () => boolean): Promise<void> {
  const request = { topic: markTopic, event: { type_url: "coracle.local/Mark" } };
  for (let delayMs = 5; !hasBegun() && !signal.aborted; delayMs = Math.min(delayMs * 2, 1000)) {
    await events.call("Publish", request, { signal, messages: ["PublishRequest", "Empty"] }).catch(() => {}); // the stream breaks, too
    await sleep(clock, delayMs, signal).catch(() => {});
  }
}

/** The change of a container or sandbox an envelope tells, if it tells one. */
function changeOf(envelope: Readonly<Record<string, unknown>>): Change | undefined {
  const value = (envelope["event"] as { value: Uint8Array } | undefined)?.value ?? Buffer.alloc(0);
  switch (envelope["topic"]) {
    case "/containers/create":
      return { type: "CONTAINER_CREATED", container_id: String(codec.decode("ContainerCreate", value)["id"]) };
    case "/containers/delete":
      return { type: "CONTAINER_DELETED", container_id: String(codec.decode("ContainerDelete", value)["id"]) };
    case "/tasks/start":
      return { type: "CONTAINER_STARTED", container_id: String(codec.decode("TaskStart", value)["container_id"]) };
    case "/tasks/exit": {
      const exit = codec.decode("TaskExit", value);
      // An exec's exit names its own id beside the container's.
      return exit["id"] === exit["container_id"] ? { type: "CONTAINER_STOPPED", container_id: String(exit["container_id"]) } : undefined;
    }
    default:
      return undefined;
  }
}

/** The pod; undefined for what CRI does not know. Waits for an end to be shown, a second at most: what we cause ourselves is not waited for. */
async function settle(change: Change, source: Subscription): Promise<Pod | undefined> {
  const id = change.container_id;
  if (change.type === "CONTAINER_DELETED") return source.pods.get(id);
  for (let delayMs = 2; ; delayMs *= 2) {
    const shown = await look(id, source);
    if (shown !== undefined) source.pods.set(id, shown.pod);
    const isSettled = change.type !== "CONTAINER_STOPPED" || shown?.isRunning === false;
    if (isSettled || delayMs > 500 || source.signal.aborted) return shown?.pod ?? source.pods.get(id);
    await sleep(source.clock, delayMs, source.signal).catch(() => {});
  }
}

async function look(id: string, { runtime, signal, pods }: Subscription): Promise<{ pod: Pod; isRunning: boolean } | undefined> {
  try {
    const [container] = await runtime.listContainers({ id }, signal);
    if (container !== undefined) {
      const pod_sandbox_id = container.pod_sandbox_id;
      const known = pods.get(pod_sandbox_id);
      const pod_uid = known?.pod_uid ?? (await runtime.podSandboxStatus(pod_sandbox_id, signal)).metadata.uid;
      return { pod: { pod_sandbox_id, pod_uid }, isRunning: container.state === "CONTAINER_RUNNING" };
    }
    const sandbox = await runtime.podSandboxStatus(id, signal);
    return { pod: { pod_sandbox_id: id, pod_uid: sandbox.metadata.uid }, isRunning: sandbox.state === "SANDBOX_READY" };
  } catch (error) {
    if (isRuntimeNotFound(error) || signal.aborted) return undefined;
    throw error;
  }
}

async function learnPods({ runtime, signal, pods }: Subscription): Promise<void> {
  pods.clear();
  const [sandboxes, containers] = await Promise.all([runtime.listPodSandbox({}, signal), runtime.listContainers({}, signal)]);
  for (const { id, metadata } of sandboxes) pods.set(id, { pod_sandbox_id: id, pod_uid: metadata.uid });
  for (const { id, pod_sandbox_id } of containers) pods.set(id, { pod_sandbox_id, pod_uid: pods.get(pod_sandbox_id)?.pod_uid ?? "" });
}
