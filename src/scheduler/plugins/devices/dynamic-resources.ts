import { isRefusal, failed, unresolvable } from "../../framework/refusal.ts";
import { normalizeByHighest } from "../../framework/score-nodes.ts";
import { matchesAnyTerm } from "../nodes/node-selector.ts";
import { allocate } from "./allocate.ts";
import { ClaimWorld } from "./claim-world.ts";
import { poolsFor } from "./device-pools.ts";
import { resourceClaimsOf } from "./pod-claims.ts";
import { deallocate, reserveClaims } from "./reserve-claims.ts";
import type { Clock } from "../../../base/clock.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Client } from "../../../client/index.ts";
import type { ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { Cycle, NodeFilter, Plugin } from "../../framework/plugin.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";
import type { ClaimAllocation, DeviceWorld } from "./allocate.ts";

/** Gives pods the devices that their resource claims ask for (Dynamic Resource Allocation, KEP-4381). */
export function dynamicResources(services: DynamicResourcesServices): Plugin {
  const { objects, client, clock } = services;
  const world = new ClaimWorld(objects);
  const classOf = (name: string) => objects.deviceClasses.get("", name);
  return {
    name: "DynamicResources",
    events: [
      { resource: "ResourceClaim", actions: ["Add", "Update", "Delete"], helps: (pod, event) => isAboutClaims(pod, event, world) },
      { resource: "TargetPod", actions: ["UpdatePodGeneratedResourceClaim"], helps: (pod) => !isRefusal(resourceClaimsOf(pod, world)) },
      { resource: "Node", actions: ["Add", "UpdateNodeLabel", "UpdateNodeTaint"] },
      { resource: "DeviceClass", actions: ["Add", "Update"] },
      { resource: "ResourceSlice", actions: ["Add", "Update"] },
    ],
    preEnqueue(pod) {
      const claims = resourceClaimsOf(pod, world);
      return isRefusal(claims) ? claims : undefined;
    },
    preFilter(cycle) {
      const claims = resourceClaimsOf(cycle.pod, world);
      const found = new Map<string, readonly ClaimAllocation[]>();
      cycle.state.set(stateKey, { claims: isRefusal(claims) ? [] : claims, found } satisfies State);
      if (isRefusal(claims)) return claims;
      if (claims.length === 0) return "skip";
      const missing = missingClass(claims, classOf);
      return missing ?? claimFilter(claims, { found, world, classOf });
    },
    postFilter(cycle) {
      if (!cycle.state.has(stateKey)) return { message: "not found", isFinal: true };
      const idle = stateOf(cycle).claims.find((claim) => isIdle(claim, cycle.pod) && cycle.snapshot.nodes.some((node) => !isAvailable(claim, node)));
      if (idle === undefined) return { message: "" };
      return { message: "deallocation of ResourceClaim completed", write: (signal) => deallocate(client, idle, signal) };
    },
    preScore(cycle) {
      const { found, claims } = stateOf(cycle);
      if (!claims.some(({ spec }) => spec?.devices?.requests?.some(({ firstAvailable }) => firstAvailable !== undefined))) return "skip";
      return {
        score: ({ name }) => (found.get(name) ?? []).reduce((sum, { picks }) => sum + ranksOf(picks), 0),
        normalize: (scores: number[]) => normalizeByHighest(scores),
      };
    },
    reserve(cycle, { name }) {
      const { claims, found } = stateOf(cycle);
      return claims.length === 0 ? undefined : reserveClaims(cycle.pod, { claims, allocations: found.get(name) ?? [] }, { client, clock, world, classOf });
    },
  };
}

export interface DynamicResourcesServices {
  readonly client: Client;
  readonly clock: Clock;
  readonly objects: ClusterObjects;
}

interface State {
  readonly claims: readonly DeepReadonly<ResourceClaim>[];
  readonly found: Map<string, readonly ClaimAllocation[]>;
}

const stateKey = "DynamicResources";
const elsewhere = unresolvable("resourceclaim not available on the node");
const noDevices = unresolvable("cannot allocate all claims");
/** The most alternatives that a request may have: the first counts that much. */
const mostAlternatives = 8;

function stateOf(cycle: Cycle): State {
  return (cycle.state.get(stateKey) as State | undefined) ?? { claims: [], found: new Map() };
}

function claimFilter(claims: State["claims"], context: { found: State["found"]; world: ClaimWorld; classOf: DeviceWorld["classes"] }): NodeFilter {
  const { found, world, classOf } = context;
  const open = claims.filter(({ status }) => status?.allocation === undefined);
  const taken = open.length === 0 ? new Set<string>() : world.takenDevices();
  const slices = open.length === 0 ? [] : world.objects.resourceSlices.list();
  const rules = open.length === 0 ? [] : world.objects.deviceTaintRules.list();
  return {
    refuse(node) {
      if (claims.some((claim) => !isAvailable(claim, node))) return elsewhere;
      if (open.length === 0) return undefined;
      const answer = allocate(open, { pools: poolsFor(node, slices, rules), classes: classOf, isTaken: (key) => taken.has(key) });
      if (answer === undefined) return noDevices;
      if ("error" in answer) return failed(answer.error);
      found.set(node.name, answer);
      return undefined;
    },
  };
}

function isAvailable({ status }: DeepReadonly<ResourceClaim>, node: NodeInfo): boolean {
  const selector = status?.allocation?.nodeSelector;
  return selector === undefined || matchesAnyTerm(selector.nodeSelectorTerms ?? [], node);
}

/** Whether the claim has devices that nobody but this pod may be waiting for. */
function isIdle({ status }: DeepReadonly<ResourceClaim>, { uid }: PodInfo): boolean {
  return status?.allocation !== undefined && (status.reservedFor ?? []).every((one) => one.uid === uid);
}

function missingClass(claims: State["claims"], classOf: (name: string) => unknown): Refusal | undefined {
  for (const { spec, status } of claims) {
    if (status?.allocation !== undefined) continue;
    for (const { name, exactly, firstAvailable = [] } of spec?.devices?.requests ?? []) {
      const wanted =
        exactly === undefined ? firstAvailable.map((sub) => [`${name}/${sub.name}`, sub.deviceClassName] as const) : [[name, exactly.deviceClassName] as const];
      for (const [request, className] of wanted)
        if (classOf(className) === undefined) return unresolvable(`request ${request}: device class ${className} does not exist`);
    }
  }
  return undefined;
}

/** What the choices among alternatives are worth, each request once. */
function ranksOf(picks: ClaimAllocation["picks"]): number {
  const ranks = new Map(picks.flatMap(({ request, rank }) => (rank === undefined ? [] : [[request, mostAlternatives - rank] as const])));
  return [...ranks.values()].reduce((sum, worth) => sum + worth, 0);
}

/** A claim of the pod, or one that lets devices go. */
function isAboutClaims(pod: PodInfo, { old, current }: ClusterEvent, world: ClaimWorld): boolean {
  const claims = resourceClaimsOf(pod, world);
  if (isRefusal(claims)) return false;
  const [before, after] = [old as DeepReadonly<ResourceClaim> | undefined, current as DeepReadonly<ResourceClaim> | undefined];
  const isFreed = before?.status?.allocation !== undefined && after?.status?.allocation === undefined;
  return isFreed || claims.some(({ metadata }) => metadata.uid === (after ?? before)?.metadata.uid);
}
