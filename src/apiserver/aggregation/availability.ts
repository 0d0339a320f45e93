/** Whether an APIService can be used, as its condition `Available` says (API type APIServiceConditionType). Pure. */
import type { APIService, APIServiceCondition } from "../../api/apiregistration-v1/types.ts";
import type { Service } from "../../api/core-v1/types.ts";
import type { EndpointSlice } from "../../api/discovery-v1/types.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";

export interface AvailabilityFacts {
  readonly apiService: DeepReadonly<APIService>;
  /** The Service that it names, and its slices. */
  readonly service: DeepReadonly<Service> | undefined;
  readonly slices: readonly DeepReadonly<EndpointSlice>[];
}

export interface Availability {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

export const passed: Availability = { status: "True", reason: "Passed", message: "all checks passed" };

/** What can be told without asking; `probe` when its server has to answer. */
export function decideAvailability({ apiService, service, slices }: AvailabilityFacts): Availability | "probe" {
  const reference = apiService.spec?.service;
  if (reference === undefined) return { status: "True", reason: "Local", message: "Local APIServices are always available" };
  const { namespace = "", name = "", port = 443 } = reference;
  const shown = `service/${name} in ${goQuote(namespace)}`;
  if (service === undefined) return unavailable("ServiceNotFound", `${shown} is not present`);
  // Services of other types may lead anywhere.
  if ((service.spec?.type ?? "ClusterIP") !== "ClusterIP") return "probe";
  const servicePort = (service.spec?.ports ?? []).find((candidate) => candidate.port === port);
  if (servicePort === undefined) return unavailable("ServicePortError", `${shown} is not listening on port ${port}`);
  if (slices.length === 0) return unavailable("EndpointsNotFound", `cannot find endpointslices for ${shown}`);
  const portName = servicePort.name ?? "";
  if (slices.some((slice) => hasReady(slice, portName))) return "probe";
  return unavailable("MissingEndpoints", `endpointslices for ${shown} have no addresses with port name ${goQuote(portName)}`);
}

export function discoveryFailure(text: string): Availability {
  return unavailable("FailedDiscoveryCheck", text);
}

function hasReady({ endpoints, ports }: DeepReadonly<EndpointSlice>, portName: string): boolean {
  return (ports ?? []).some((port) => (port.name ?? "") === portName) && (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false);
}

function unavailable(reason: string, message: string): Availability {
  return { status: "False", reason, message };
}

/** The conditions with this one in them, or undefined when they say so already. The time moves with the status alone. */
export function withAvailability(
  conditions: readonly APIServiceCondition[],
  { status, reason, message }: Availability,
  nowMs: number,
): APIServiceCondition[] | undefined {
  const old = conditions.find(({ type }) => type === "Available");
  if (old?.status === status && old.reason === reason && old.message === message) return undefined;
  const lastTransitionTime = old?.status === status && old.lastTransitionTime !== undefined ? old.lastTransitionTime : formatTime(nowMs);
  const condition: APIServiceCondition = { type: "Available", status, lastTransitionTime, reason, message };
  return old === undefined ? [...conditions, condition] : conditions.map((other) => (other === old ? condition : other));
}
