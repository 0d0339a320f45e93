/** Warnings about pods and pod templates, in upstream's order. */
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { ipWarnings } from "../../../apimachinery/net.ts";
import { numberOf } from "../../../apimachinery/json.ts";
import { isDns1123Label } from "../../../apimachinery/names.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import { compareQuantities } from "../../../apimachinery/quantity.ts";
import { nodeLabelDeprecation } from "../../deprecated-node-labels.ts";
import { nodeSelectorTermWarnings } from "../node-selector.ts";
import { isWhole } from "../resource-names.ts";
import type { ResourceList } from "../resource-names.ts";
import type { Container, ContainerPort, Pod, PodAffinityTerm, PodSpec, PodTemplateSpec } from "../types.ts";
import { appArmorPrefix, appArmorWarning } from "./annotations.ts";
import { containersWithPaths } from "./operating-system.ts";
import { volumeWarnings } from "./volume-warnings.ts";

export function podWarnings(pod: Pod): string[] {
  return specWarnings(pod.spec ?? {}, pod.metadata, FieldPath.root());
}

/** `path`: of the template. */
export function podTemplateWarnings(template: PodTemplateSpec, path: FieldPath): string[] {
  return specWarnings(template.spec ?? {}, template.metadata ?? {}, path, true);
}

/** Names of pods, and of what makes pods, end up in hostnames. */
export function hostnameWarnings(name: string, use: "the Pod's hostname" | "Pod names and hostnames"): string[] {
  const faults = isDns1123Label(name);
  return faults.length === 0
    ? []
    : [`metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${faults.join(" ")}]`];
}

function specWarnings(spec: PodSpec, metadata: ObjectMeta, path: FieldPath, isTemplate = false): string[] {
  const specPath = path.child("spec");
  const containers = containersWithPaths(spec, specPath);
  return [
    ...selectionWarnings(spec, specPath),
    ...annotationWarnings(metadata, path),
    ...volumeWarnings(spec.volumes ?? [], specPath.child("volumes")),
    ...repetitionWarnings(spec, specPath),
    ...fractionWarnings(spec.overhead, ["memory", "ephemeral-storage"], specPath.child("overhead")),
    ...containers.flatMap(({ container, path: at }) => [
      ...(isTemplate ? templateAppArmorWarnings(container, metadata, path) : []),
      ...containerWarnings(container, at),
    ]),
    ...portWarnings(containers),
    ...(numberOf(spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [`${specPath.child("terminationGracePeriodSeconds")}: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(spec, specPath.child("affinity")),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((address, index) => ipWarnings(address, specPath.child("dnsConfig", "nameservers").index(index))),
    ...(spec.hostAliases ?? []).flatMap(({ ip }, index) => ipWarnings(ip ?? "", specPath.child("hostAliases").index(index).child("ip"))),
    ...["limits", "requests"].flatMap((list) => fractionWarnings(spec.resources?.[list as "limits"], ["memory"], specPath.child("resources", list))),
  ];
}

function selectionWarnings(spec: PodSpec, path: FieldPath): string[] {
  const { nodeAffinity } = spec.affinity ?? {};
  const affinityPath = path.child("affinity", "nodeAffinity");
  const hard = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const soft = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...Object.keys(spec.nodeSelector ?? {})
      .sort()
      .flatMap((label) => labelWarning(label, path.child("nodeSelector").key(label))),
    ...hard.flatMap((term, index) =>
      nodeSelectorTermWarnings(term, affinityPath.child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").index(index)),
    ),
    ...soft.flatMap(({ preference }, index) =>
      nodeSelectorTermWarnings(preference ?? {}, affinityPath.child("preferredDuringSchedulingIgnoredDuringExecution").index(index).child("preference")),
    ),
    ...(spec.topologySpreadConstraints ?? []).flatMap(({ topologyKey = "", labelSelector }, index) => {
      const at = path.child("topologySpreadConstraints").index(index);
      const deprecation = nodeLabelDeprecation(topologyKey);
      return [
        ...(deprecation === undefined ? [] : [`${at.child("topologyKey")}: ${topologyKey} is ${deprecation}`]),
        ...(labelSelector === undefined ? [`${at.child("labelSelector")}: a null labelSelector results in matching no pod`] : []),
      ];
    }),
  ];
}

function labelWarning(label: string, path: FieldPath): string[] {
  const deprecation = nodeLabelDeprecation(label);
  return deprecation === undefined ? [] : [`${path}: ${deprecation}`];
}

const seccompText = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const deprecatedAnnotations: readonly { readonly key?: string; readonly prefix?: string; readonly text: string }[] = [
  { key: "scheduler.alpha.kubernetes.io/critical-pod", text: 'non-functional in v1.16+; use the "priorityClassName" field instead' },
  { key: "seccomp.security.alpha.kubernetes.io/pod", prefix: "container.seccomp.security.alpha.kubernetes.io/", text: seccompText },
  { key: "security.alpha.kubernetes.io/sysctls", text: 'non-functional in v1.11+; use the "sysctls" field instead' },
  { key: "security.alpha.kubernetes.io/unsafe-sysctls", text: 'non-functional in v1.11+; use the "sysctls" field instead' },
];

function annotationWarnings({ annotations = {} }: ObjectMeta, path: FieldPath): string[] {
  const keys = Object.keys(annotations).sort();
  const at = path.child("metadata", "annotations");
  return deprecatedAnnotations.flatMap(({ key, prefix, text }) => {
    const found = [keys.find((name) => name === key), prefix === undefined ? undefined : keys.find((name) => name.startsWith(prefix))];
    return found.filter((name) => name !== undefined).map((name) => `${at.key(name)}: ${text}`);
  });
}

function repetitionWarnings(spec: PodSpec, path: FieldPath): string[] {
  const warnings: string[] = [];
  const seen = new Set<string>();
  (spec.hostAliases ?? []).forEach(({ ip = "" }, index) => {
    if (seen.has(ip)) warnings.push(`${path.child("hostAliases").index(index).child("ip")}: duplicate ip ${JSON.stringify(ip)}`);
    seen.add(ip);
  });
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = "" }) => name);
  secrets.forEach((name, index) => {
    const at = path.child("imagePullSecrets").index(index).child("name");
    if (secrets.indexOf(name) < index) warnings.push(`${at}: duplicate name ${JSON.stringify(name)}`);
  });
  secrets.forEach((name, index) => {
    if (name === "") warnings.push(`${path.child("imagePullSecrets").index(index).child("name")}: invalid empty name ""`);
  });
  return warnings;
}

/** Binary amounts whose thousandths do not fit into 64 bits lose bits, which leaves a fraction. */
function overflowsInMilli(amount: string | number): boolean {
  return String(amount).endsWith("i") && compareQuantities(amount, mostMilli) > 0;
}

const mostMilli = 2 ** 63 / 1000;

export function fractionWarnings(list: ResourceList | undefined, names: readonly string[], path: FieldPath): string[] {
  return names.flatMap((name) => {
    const amount = list?.[name];
    return amount === undefined || (isWhole(amount) && !overflowsInMilli(amount))
      ? []
      : [`${path.key(name)}: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`];
  });
}

function containerWarnings({ env = [], resources }: Container, path: FieldPath): string[] {
  const warnings = (["memory", "ephemeral-storage"] as const).flatMap((name) =>
    (["limits", "requests"] as const).flatMap((list) => fractionWarnings(resources?.[list], [name], path.child("resources", list))),
  );
  const names = new Set<string>();
  env.forEach(({ name, value = "", valueFrom }, index) => {
    const reference = `$(${name})`;
    if (names.has(name) && (valueFrom !== undefined || value === reference || !value.includes(reference))) {
      warnings.push(`${path.child("env").index(index)}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`);
    }
    names.add(name);
  });
  return warnings;
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly path: FieldPath;
}

function portWarnings(containers: readonly { container: Container; path: FieldPath }[]): string[] {
  const warnings: string[] = [];
  const byPort = new Map<string, PlacedPort[]>();
  const byName = new Map<string, FieldPath>();
  for (const { container, path } of containers) {
    (container.ports ?? []).forEach((port, index) => {
      const at = path.child("ports").index(index);
      const { name = "", hostIP = "", hostPort = 0, containerPort = 0, protocol = "" } = port;
      if (hostIP !== "" && hostPort === 0)
        warnings.push(`${at}: hostIP set without hostPort: {Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`);
      const key = `${containerPort}/${protocol}`;
      const others = byPort.get(key) ?? [];
      for (const other of others) warnings.push(...conflictWarnings({ port, path: at }, other));
      byPort.set(key, [...others, { port, path: at }]);
      if (name === "") return;
      const first = byName.get(name);
      if (first === undefined) byName.set(name, at);
      else warnings.push(`${at}: duplicate port name ${JSON.stringify(name)} with ${first}, services and probes that select ports by name will use ${first}`);
    });
  }
  return warnings;
}

function conflictWarnings({ port, path }: PlacedPort, other: PlacedPort): string[] {
  const { hostIP = "", hostPort = 0 } = port;
  const { hostIP: otherIp = "", hostPort: otherPort = 0 } = other.port;
  if (hostIP === otherIp && hostPort === otherPort) return [`${path}: duplicate port definition with ${other.path}`];
  if (hostPort === 0 || otherPort === 0) return [`${path}: overlapping port definition with ${other.path}`];
  return hostPort === otherPort && (hostIP === "") !== (otherIp === "") ? [`${path}: dangerously ambiguous port definition with ${other.path}`] : [];
}

function affinityWarnings({ affinity }: PodSpec, path: FieldPath): string[] {
  return (["podAffinity", "podAntiAffinity"] as const).flatMap((kind) => {
    const { requiredDuringSchedulingIgnoredDuringExecution: hard = [], preferredDuringSchedulingIgnoredDuringExecution: soft = [] } = affinity?.[kind] ?? {};
    const at = path.child(kind);
    return [
      ...hard.flatMap((term, index) => termWarnings(term, at.child("requiredDuringSchedulingIgnoredDuringExecution").index(index))),
      ...soft.flatMap(({ podAffinityTerm }, index) =>
        termWarnings(podAffinityTerm, at.child("preferredDuringSchedulingIgnoredDuringExecution").index(index).child("podAffinityTerm")),
      ),
    ];
  });
}

function termWarnings(term: PodAffinityTerm | undefined, path: FieldPath): string[] {
  return term?.labelSelector === undefined ? [`${path.child("labelSelector")}: a null labelSelector results in matching no pod`] : [];
}

function templateAppArmorWarnings({ name, securityContext }: Container, { annotations = {} }: ObjectMeta, path: FieldPath): string[] {
  return annotations[appArmorPrefix + name] === undefined || securityContext?.appArmorProfile !== undefined
    ? []
    : [appArmorWarning(name, path.child("metadata", "annotations"))];
}
