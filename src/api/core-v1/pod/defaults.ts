/** Defaults of pods and pod templates (API reference "Pod v1 core"). */
import { roundResourceList } from "../resource-names.ts";
import type { Container, HTTPGetAction, LifecycleHandler, Pod, PodSpec, Probe, ResourceRequirements, Volume } from "../types.ts";
import { defaultPullPolicy } from "./image-name.ts";
import { applyPodResourceDefaults } from "./resource-defaults.ts";
import { applyVolumeDefaults } from "./volume-defaults.ts";

/** Defaults of a pod that is an object of its own: those of its spec, and what templates do not get. */
export function applyPodDefaults(pod: Pod): void {
  const spec = (pod.spec ??= {});
  applyPodSpecDefaults(spec);
  for (const container of allContainers(spec)) requestsFromLimits(container.resources);
  if (spec.resources !== undefined) applyPodResourceDefaults(spec);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork === true) for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) hostPortsFromContainerPorts(container);
  mirrorPodIps(pod);
}

/** Defaults of a pod spec, in a pod or in a template. */
export function applyPodSpecDefaults(spec: PodSpec): void {
  spec.dnsPolicy ||= "ClusterFirst";
  spec.restartPolicy ||= "Always";
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= "default-scheduler";
  spec.securityContext ??= {};
  mirrorServiceAccount(spec);
  for (const list of [spec.overhead, spec.resources?.limits, spec.resources?.requests]) roundResourceList(list);
  for (const volume of spec.volumes ?? []) applyVolumeDefaults(volume as Volume);
  for (const container of [...allContainers(spec), ...(spec.ephemeralContainers ?? [])]) applyContainerDefaults(container);
}

function allContainers(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
}

/** The deprecated name of the field follows the current one. */
function mirrorServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** `podIP` and the first of `podIPs` are one; when they differ the former wins. */
function mirrorPodIps({ status }: Pod): void {
  if (status === undefined) return;
  const first = status.podIPs?.[0]?.ip;
  if (status.podIP && status.podIP !== first) status.podIPs = [{ ip: status.podIP }];
  else if (!status.podIP && first) status.podIP = first;
}

export function applyContainerDefaults(container: Container): void {
  roundResourceList(container.resources?.limits);
  roundResourceList(container.resources?.requests);
  container.imagePullPolicy ||= defaultPullPolicy(container.image ?? "");
  container.terminationMessagePath ||= "/dev/termination-log";
  container.terminationMessagePolicy ||= "File";
  for (const port of container.ports ?? []) port.protocol ||= "TCP";
  for (const variable of container.env ?? []) {
    const { fieldRef, resourceFieldRef } = variable.valueFrom ?? {};
    if (fieldRef !== undefined) fieldRef.apiVersion ||= "v1";
    if (resourceFieldRef !== undefined) resourceFieldRef.divisor ??= "0";
    if (variable.valueFrom?.fileKeyRef !== undefined) variable.valueFrom.fileKeyRef.optional ??= false;
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) if (probe !== undefined) applyProbeDefaults(probe);
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop]) if (handler !== undefined) applyHandlerDefaults(handler);
}

function applyProbeDefaults(probe: Probe): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.grpc !== undefined) probe.grpc.service ??= "";
  applyHandlerDefaults(probe);
}

function applyHandlerDefaults(handler: LifecycleHandler | Probe): void {
  if (handler.httpGet !== undefined) applyHttpGetDefaults(handler.httpGet);
}

function applyHttpGetDefaults(action: HTTPGetAction): void {
  action.path ||= "/";
  action.scheme ||= "HTTP";
}

function requestsFromLimits(resources: ResourceRequirements | undefined): void {
  for (const [name, quantity] of Object.entries(resources?.limits ?? {})) {
    resources!.requests ??= {};
    resources!.requests[name] ??= quantity;
  }
}

function hostPortsFromContainerPorts(container: Container): void {
  for (const port of container.ports ?? []) if (!port.hostPort) port.hostPort = port.containerPort;
}
