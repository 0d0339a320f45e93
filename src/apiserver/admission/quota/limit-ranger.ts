/** LimitRanger: defaults and bounds of requests and limits (documentation page "Limit Ranges"). */
import type { Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod, PodSpec } from "../../../api/core-v1/types.ts";
import { findObjects } from "../../registry/rule-context.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { amountsOf, podAmounts } from "../pods/pod-resources.ts";
import { refuse } from "../refuse.ts";
import { atLeast, atMost, ratioAtMost, requestAtMost } from "./limit-constraints.ts";
import type { Asked } from "./limit-constraints.ts";

const annotation = "kubernetes.io/limit-ranger";

export const limitRanger: AdmissionPlugin = {
  name: "LimitRanger",
  operations: new Set(["CREATE", "UPDATE"]),
  resources: new Set(["/pods", "/persistentvolumeclaims"]),
  mutate,
  validate,
};

function mutate(request: AdmissionRequest): void {
  if (request.definition.resource !== "pods") return;
  for (const range of rangesFor(request)) setDefaults(request.object as unknown as Pod, range);
}

function validate(request: AdmissionRequest): void {
  for (const { spec } of rangesFor(request)) {
    const faults = (spec?.limits ?? []).flatMap((limit) =>
      request.definition.resource === "pods"
        ? podFaults((request.object as unknown as Pod).spec ?? {}, limit)
        : claimFaults(request.object as unknown as PersistentVolumeClaim, limit),
    );
    if (faults.length > 0) throw refuse(request, ...faults);
  }
}

function rangesFor({ context, definition, namespace, operation, subresource, oldObject }: AdmissionRequest): LimitRange[] {
  const isPod = definition.resource === "pods";
  const isResize = isPod && operation === "UPDATE" && subresource === "resize";
  if (!isResize && (subresource !== "" || (isPod && operation === "UPDATE"))) return [];
  if (oldObject?.metadata.deletionTimestamp !== undefined) return [];
  return findObjects(context.server, "/limitranges", namespace) as unknown as LimitRange[];
}

function setDefaults(pod: Pod, { spec }: LimitRange): void {
  const requests: Record<string, string | number> = {};
  const limits: Record<string, string | number> = {};
  for (const item of spec?.limits ?? []) {
    if (item.type !== "Container") continue;
    Object.assign(requests, item.defaultRequest);
    Object.assign(limits, item.default);
  }
  const notes = [
    ...(pod.spec?.containers ?? []).flatMap((container) => fill(container, "container", requests, limits)),
    ...(pod.spec?.initContainers ?? []).flatMap((container) => fill(container, "init container", requests, limits)),
  ];
  if (notes.length > 0) pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${notes.join("; ")}` };
}

/** Sets what the container leaves open; says what. */
function fill(
  container: Container,
  sort: string,
  requests: Readonly<Record<string, string | number>>,
  limits: Readonly<Record<string, string | number>>,
): string[] {
  const resources = container.resources ?? {};
  const notes: string[] = [];
  for (const [kind, defaults] of [
    ["requests", requests],
    ["limits", limits],
  ] as const) {
    const missing = Object.keys(defaults)
      .filter((name) => resources[kind]?.[name] === undefined)
      .sort();
    if (missing.length === 0) continue;
    resources[kind] = { ...resources[kind], ...Object.fromEntries(missing.map((name) => [name, defaults[name]!])) };
    notes.push(`${missing.join(", ")} ${kind === "requests" ? "request" : "limit"} for ${sort} ${container.name}`);
  }
  container.resources = resources;
  return notes;
}

function podFaults(spec: PodSpec, limit: LimitRangeItem): string[] {
  if (limit.type === "Pod")
    return faultsOf(limit, { requests: podAmounts(spec, "requests", { withOverhead: false }), limits: podAmounts(spec, "limits", { withOverhead: false }) });
  if (limit.type !== "Container") return [];
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
    faultsOf(limit, { requests: amountsOf(resources, "requests"), limits: amountsOf(resources, "limits") }),
  );
}

function claimFaults(claim: PersistentVolumeClaim, limit: LimitRangeItem): string[] {
  if (limit.type !== "PersistentVolumeClaim") return [];
  const asked: Asked = { requests: amountsOf(claim.spec?.resources, "requests"), limits: new Map() };
  return [
    ...each(limit.min, (name, bound) => atLeast(limit.type, name, bound, asked)),
    ...each(limit.max, (name, bound) => requestAtMost(limit.type, name, bound, asked)),
  ];
}

function faultsOf(limit: LimitRangeItem, asked: Asked): string[] {
  return [
    ...each(limit.min, (name, bound) => atLeast(limit.type, name, bound, asked)),
    ...each(limit.max, (name, bound) => atMost(limit.type, name, bound, asked)),
    ...each(limit.maxLimitRequestRatio, (name, bound) => ratioAtMost(limit.type, name, bound, asked)),
  ];
}

function each(bounds: Readonly<Record<string, string | number>> | undefined, check: (name: string, bound: string | number) => string | undefined): string[] {
  return Object.keys(bounds ?? {})
    .sort()
    .flatMap((name) => check(name, bounds![name]!) ?? []);
}
