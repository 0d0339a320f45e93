import { parseDuration } from "../../../api/batch-v1/duration.ts";
import { isRefusal, failed, unresolvable } from "../../framework/refusal.ts";
import { ConfigurationError } from "../../config/configuration-error.ts";
import { normalizeByHighest } from "../../framework/score-nodes.ts";
import { matchesAnyTerm } from "../../../api/core-v1/node-matching.ts";
import { allocate } from "./allocate.ts";
import { isHopeless } from "./binding-conditions.ts";
import { ClaimWorld } from "./claim-world.ts";
import { poolsFor } from "./device-pools.ts";
import { usesOf } from "./device-uses.ts";
import { deallocate } from "./claim-writes.ts";
import { extendedClaim, servedResources } from "./extended-resources.ts";
import { claimUsesOf, resourceClaimsOf } from "./pod-claims.ts";
import { reserveClaims } from "./reserve-claims.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Client } from "../../../client/index.ts";
import type { ResourceClaim } from "../../../api/resource-v1/types.ts";
import type { ClusterEvent, EventHint } from "../../framework/cluster-event.ts";
import type { Cycle, NodeFilter, Plugin } from "../../framework/plugin.ts";
import type { RecordEvent } from "../../framework/record-event.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { PodGroups } from "../../state/pod-groups.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { ClusterObjects } from "../../state/snapshot.ts";
import type { ClaimAllocation, DeviceWorld } from "./allocate.ts";
import type { ExtendedClaim, ServedResources } from "./extended-resources.ts";
import type { ClaimUse } from "./pod-claims.ts";

/** Gives pods the devices that their resource claims, or the extended resources that device classes serve, ask for (KEP-4381, KEP-5004). */
export function dynamicResources(args: DynamicResourcesArgs, services: DynamicResourcesServices): Plugin {
  const { objects, client, clock } = services;
  const world = new ClaimWorld(objects, clock, services.podGroups);
  const classOf = (name: string) => objects.deviceClasses.get("", name);
  const bindingTimeoutMs = milliseconds(args.bindingTimeout);
  const isLost = (claim: Claim) => isHopeless(claim, clock.nowMs(), bindingTimeoutMs);
  return {
    name: "DynamicResources",
    events: [
      { resource: "ResourceClaim", actions: ["Add", "Update", "Delete"], helps: (pod, event) => isAboutClaims(pod, event, world) },
      { resource: "TargetPod", actions: ["UpdatePodGeneratedResourceClaim"], helps: (pod) => !isRefusal(resourceClaimsOf(pod, world)) },
      { resource: "Node", actions: ["Add", "UpdateNodeLabel", "UpdateNodeTaint"] },
      ...(services.podGroups?.hasClaims === true ? [claimOfGroupMade(world)] : []),
      { resource: "DeviceClass", actions: ["Add", "Update"] },
      { resource: "ResourceSlice", actions: ["Add", "Update"] },
    ],
    preEnqueue(pod) {
      const claims = resourceClaimsOf(pod, world);
      return isRefusal(claims) ? claims : undefined;
    },
    preFilter(cycle) {
      const answer = claimUsesOf(cycle.pod, world);
      const uses = isRefusal(answer) ? [] : answer;
      const claims = uses.map(({ claim }) => claim);
      const state: State = { uses, claims, served: servedFor(cycle.pod, claims, objects), found: new Map() };
      cycle.state.set(stateKey, state);
      if (isRefusal(answer)) return answer;
      if (claims.length === 0 && state.served.size === 0) return "skip";
      return missingClass(claims, classOf) ?? claimFilter(cycle.pod, state, { world, classOf, isLost });
    },
    postFilter(cycle) {
      if (!cycle.state.has(stateKey)) return { message: "not found", isFinal: true };
      const isAnywhere = (claim: Claim) => !isLost(claim) && cycle.snapshot.nodes.every((node) => isAvailable(claim, node));
      const idle = stateOf(cycle).claims.find((claim) => isIdle(claim, cycle.pod) && !isAnywhere(claim));
      if (idle === undefined) return { message: "" };
      return { message: "deallocation of ResourceClaim completed", write: (signal) => deallocate(client, idle, signal) };
    },
    preScore(cycle) {
      const { found, claims } = stateOf(cycle);
      if (!claims.some(({ spec }) => spec?.devices?.requests?.some(({ firstAvailable }) => firstAvailable !== undefined))) return "skip";
      return {
        score: ({ name }) => (found.get(name)?.allocations ?? []).reduce((sum, { picks }) => sum + ranksOf(picks), 0),
        normalize: (scores: number[]) => normalizeByHighest(scores),
      };
    },
    reserve(cycle, { name }) {
      const { uses, served, found } = stateOf(cycle);
      if (uses.length === 0 && served.size === 0) return undefined;
      const onWaiting = () =>
        services.record(cycle.pod, {
          type: "Normal",
          reason: "BindingConditionsPending",
          action: "Scheduling",
          note: `waiting for binding conditions for device on node ${name}`,
        });
      const { allocations, extended } = found.get(name) ?? { allocations: [], extended: undefined };
      return reserveClaims(cycle.pod, { uses, extended, allocations }, { ...services, world, classOf, bindingTimeoutMs, onWaiting });
    },
  };
}

export interface DynamicResourcesArgs {
  /** How long a pod waits for the binding conditions of its devices, as Go writes durations. */
  readonly bindingTimeout: string;
  /** How long upstream thinks about one node; our search is not cut off. */
  readonly filterTimeout: string;
}

export interface DynamicResourcesServices {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly objects: ClusterObjects;
  readonly record: RecordEvent;
  readonly podGroups?: PodGroups | undefined;
}

function claimOfGroupMade(world: ClaimWorld): EventHint {
  return { resource: "PodGroup", actions: ["Add", "Update"], helps: (pod) => !isRefusal(resourceClaimsOf(pod, world)) };
}

type Claim = DeepReadonly<ResourceClaim>;

interface State {
  readonly uses: readonly ClaimUse[];
  readonly claims: readonly Claim[];
  readonly served: ServedResources;
  /** By node. */
  readonly found: Map<string, NodeDevices>;
}

/** What a node gives to the claims without devices, and to the claim that stands for extended resources. */
interface NodeDevices {
  readonly allocations: readonly ClaimAllocation[];
  readonly extended: ExtendedClaim | undefined;
}

const stateKey = "DynamicResources";
const elsewhere = unresolvable("resourceclaim not available on the node");
const noDevices = unresolvable("cannot allocate all claims");
/** The most alternatives that a request may have: the first counts that much. */
const mostAlternatives = 8;

function milliseconds(text: string): number {
  const duration = parseDuration(text);
  if ("fault" in duration) throw new ConfigurationError(`bindingTimeout: ${duration.fault}`);
  return duration.seconds * 1000;
}

function stateOf(cycle: Cycle): State {
  return (cycle.state.get(stateKey) as State | undefined) ?? { uses: [], claims: [], served: new Map(), found: new Map() };
}

/** Which resources still want a claim: none once the pod has it. */
function servedFor(pod: PodInfo, claims: readonly Claim[], objects: ClusterObjects): ServedResources {
  const made = pod.pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  return claims.some(({ metadata }) => metadata.name === made) ? new Map() : servedResources(pod, objects.deviceClasses);
}

interface FilterContext {
  readonly world: ClaimWorld;
  readonly classOf: DeviceWorld["classes"];
  readonly isLost: (claim: Claim) => boolean;
}

function claimFilter(pod: PodInfo, { claims, served, found }: State, { world, classOf, isLost }: FilterContext): NodeFilter {
  const open = claims.filter(({ status }) => status?.allocation === undefined);
  const lost = claims.filter(isLost);
  const isSettled = open.length === 0 && served.size === 0;
  const uses = isSettled ? usesOf([]) : world.uses();
  const slices = isSettled ? [] : world.objects.resourceSlices.list();
  const rules = isSettled ? [] : world.objects.deviceTaintRules.list();
  return {
    refuse(node) {
      if (lost.length > 0 || claims.some((claim) => !isAvailable(claim, node))) return elsewhere;
      const extended = extendedClaim(pod, served, node);
      const wanted = extended === undefined ? open : [...open, extended.claim];
      if (wanted.length === 0) return undefined;
      const answer = allocate(wanted, { pools: poolsFor(node, slices, rules), classes: classOf, uses });
      if (answer === undefined) return noDevices;
      if ("error" in answer) return failed(answer.error);
      found.set(node.name, { allocations: answer, extended });
      return undefined;
    },
  };
}

function isAvailable({ status }: Claim, node: NodeInfo): boolean {
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
