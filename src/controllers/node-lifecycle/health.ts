import { formatTime, parseTime } from "../../apimachinery/time.ts";
import { edited } from "../../client/index.ts";
import { nodeCondition } from "../nodes/node-conditions.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Lease } from "../../api/coordination-v1/types.ts";
import type { Node, NodeCondition } from "../../api/core-v1/types.ts";

/** When a node was last heard of, by our own clock: nodes' clocks are not trusted. */
export interface NodeHealth {
  readonly heardMs: number;
  /** What it last said: another text is a sign of life. */
  readonly heartbeat: string | undefined;
  readonly renewal: string | undefined;
}

export interface HealthSettings {
  /** Silence that is forgiven, in ms. */
  readonly graceMs: number;
  /** The same for a node that never said anything. */
  readonly startupGraceMs: number;
}

/** What is known of a node after this look. */
export function observe(known: NodeHealth | undefined, node: DeepReadonly<Node>, lease: DeepReadonly<Lease> | undefined, nowMs: number): NodeHealth {
  const ready = nodeCondition(node, "Ready");
  const heartbeat = ready && `${ready.lastHeartbeatTime} ${ready.lastTransitionTime} ${ready.status}`;
  const renewal = lease?.spec?.renewTime;
  if (known === undefined) return { heardMs: ready === undefined ? createdMs(node, nowMs) : nowMs, heartbeat, renewal };
  const isHeard = (heartbeat !== undefined && heartbeat !== known.heartbeat) || (renewal !== undefined && renewal !== known.renewal);
  return { heardMs: isHeard ? nowMs : known.heardMs, heartbeat, renewal };
}

/** Whether a node has been silent for too long. */
export function isSilent(health: NodeHealth, node: DeepReadonly<Node>, settings: HealthSettings, nowMs: number): boolean {
  const graceMs = nodeCondition(node, "Ready") === undefined ? settings.startupGraceMs : settings.graceMs;
  return nowMs > health.heardMs + graceMs;
}

/** The node with everything Unknown that only it can know; undefined when that is written already. */
export function silenced(node: DeepReadonly<Node>, nowMs: number): Node | undefined {
  let isChanged = false;
  const updated = edited<Node>(node, (draft) => {
    const conditions: NodeCondition[] = [...(draft.status?.conditions ?? [])];
    for (const type of unknowable) {
      const index = conditions.findIndex((condition) => condition.type === type);
      const current = conditions[index];
      if (current === undefined) {
        const created = node.metadata.creationTimestamp ?? formatTime(nowMs);
        conditions.push({
          type,
          status: "Unknown",
          lastHeartbeatTime: created,
          lastTransitionTime: formatTime(nowMs),
          reason: "NodeStatusNeverUpdated",
          message: "Kubelet never posted node status.",
        });
      } else if (current.status !== "Unknown") {
        conditions[index] = {
          ...current,
          status: "Unknown",
          lastTransitionTime: formatTime(nowMs),
          reason: "NodeStatusUnknown",
          message: "Kubelet stopped posting node status.",
        };
      } else continue;
      isChanged = true;
    }
    draft.status = { ...draft.status, conditions };
  });
  return isChanged ? updated : undefined;
}

const unknowable = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const;

function createdMs({ metadata }: DeepReadonly<Node>, nowMs: number): number {
  return metadata.creationTimestamp === undefined || metadata.creationTimestamp === null ? nowMs : parseTime(metadata.creationTimestamp);
}
