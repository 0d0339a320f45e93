/** Rules of containers: regular ones, init containers and sidecars. */
import { duplicate, forbidden, invalid, invalidEach, notSupported, required, tooMany } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import type { FieldPath } from "../../../apimachinery/field-path.ts";
import { isDns1123Label } from "../../../apimachinery/names.ts";
import type { Container, ContainerResizePolicy, ContainerRestartRule, PodSpec, Volume } from "../types.ts";
import type { RuleContext } from "../../strategy.ts";
import { validateEnv, validateEnvFrom, validateFileKeyVolumes } from "./env.ts";
import { validateLifecycle } from "./lifecycle.ts";
import { validateVolumeDevices, validateVolumeMounts } from "./mounts.ts";
import { validateContainerPorts, validateHostPorts } from "./ports.ts";
import { validateProbes } from "./probes.ts";
import { validateResources } from "./resources.ts";
import { validateSecurityContext } from "./security-context.ts";

/** What the rules of a container know of its pod. */
export interface ContainerRules {
  readonly spec: PodSpec;
  /** Volumes without faults, by name. */
  readonly volumes: ReadonlyMap<string, Volume>;
  /** Names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>;
  readonly context: Pick<RuleContext, "isEnabled" | "settings">;
}

export function validateContainers(rules: ContainerRules, path: FieldPath): FieldError[] {
  const containers = rules.spec.containers ?? [];
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const errors = containers.flatMap((container, index) => {
    const at = path.index(index);
    const faults = validateContainer(container, rules, at);
    const { name = "" } = container;
    if (names.has(name)) faults.push(duplicate(at.child("name"), name));
    names.add(name);
    return [...faults, ...validateHooksAndProbes(container, rules.spec, at), ...validateRestartPolicy(container, at)];
  });
  return [...errors, ...validateHostPorts(containers, path)];
}

export function validateInitContainers(rules: ContainerRules, path: FieldPath): FieldError[] {
  const names = new Set((rules.spec.containers ?? []).map(({ name }) => name));
  return (rules.spec.initContainers ?? []).flatMap((container, index) => {
    const at = path.index(index);
    const errors = [...validateContainer(container, rules, at), ...validateRestartPolicy(container, at)];
    const { name = "" } = container;
    if (names.has(name)) errors.push(duplicate(at.child("name"), name));
    else if (name !== "") names.add(name);
    errors.push(...validateHostPorts([container], path));
    if (container.restartPolicy === "Always") return [...errors, ...validateHooksAndProbes(container, rules.spec, at)];
    for (const field of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
      if (container[field] !== undefined) errors.push(forbidden(at.child(field), "may not be set for init containers without restartPolicy=Always"));
    }
    return errors;
  });
}

/** What holds for containers of every sort. */
export function validateContainer(container: Container, { spec, volumes, claims, context }: ContainerRules, path: FieldPath): FieldError[] {
  const { name = "", terminationMessagePolicy = "", imagePullPolicy } = container;
  const errors: FieldError[] = name === "" ? [required(path.child("name"))] : invalidEach(path.child("name"), name, isDns1123Label(name));
  if (!container.image) errors.push(required(path.child("image")));
  if (terminationMessagePolicy === "") errors.push(required(path.child("terminationMessagePolicy")));
  else if (!["File", "FallbackToLogsOnError"].includes(terminationMessagePolicy))
    errors.push(notSupported(path.child("terminationMessagePolicy"), terminationMessagePolicy, ["File", "FallbackToLogsOnError"]));
  return [
    ...errors,
    ...validateContainerPorts(container.ports ?? [], path.child("ports")),
    ...validateEnv(container.env ?? [], context.isEnabled("EnvFiles"), path.child("env")),
    ...validateEnvFrom(container.envFrom ?? [], path.child("envFrom")),
    ...validateFileKeyVolumes(container.env ?? [], volumes, path.child("env")),
    ...validateVolumeMounts(container, volumes, path.child("volumeMounts")),
    ...validateVolumeDevices(container, volumes, path.child("volumeDevices")),
    ...validatePullPolicy(imagePullPolicy, path.child("imagePullPolicy")),
    ...validateResources(container.resources ?? {}, claims, path.child("resources")),
    ...validateResizePolicy(container.resizePolicy ?? [], spec.restartPolicy, path.child("resizePolicy")),
    ...validateSecurityContext(
      container.securityContext,
      { hostUsers: spec.hostUsers ?? true, allowPrivileged: context.settings.allowPrivileged },
      path.child("securityContext"),
    ),
  ];
}

/** What pods ask for beyond templates, which have always been allowed to be sloppy. */
export function validateImages(containers: readonly Container[], path: FieldPath): FieldError[] {
  return containers.flatMap(({ image = "" }, index) =>
    image === image.trim() ? [] : [invalid(path.index(index).child("image"), image, "must not have leading or trailing whitespace")],
  );
}

export function validatePullPolicy(policy: string | undefined, path: FieldPath): FieldError[] {
  if (!policy) return [required(path)];
  const supported = ["Always", "IfNotPresent", "Never"];
  return supported.includes(policy) ? [] : [notSupported(path, policy, supported)];
}

function validateHooksAndProbes(container: Container, { os, terminationGracePeriodSeconds = 30 }: PodSpec, path: FieldPath): FieldError[] {
  return [
    ...(container.lifecycle === undefined ? [] : validateLifecycle(container.lifecycle, terminationGracePeriodSeconds, os, path.child("lifecycle"))),
    ...validateProbes(container, terminationGracePeriodSeconds, path),
  ];
}

function validateResizePolicy(policies: readonly ContainerResizePolicy[], podRestartPolicy: string | undefined, path: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return policies.flatMap(({ resourceName = "", restartPolicy = "" }, index) => {
    const errors: FieldError[] = [];
    if (seen.has(resourceName)) errors.push(duplicate(path.index(index), resourceName));
    seen.add(resourceName);
    if (resourceName === "") errors.push(required(path));
    else if (!["cpu", "memory"].includes(resourceName)) errors.push(notSupported(path, resourceName, ["cpu", "memory"]));
    if (restartPolicy === "") errors.push(required(path));
    else if (!["NotRequired", "RestartContainer"].includes(restartPolicy)) errors.push(notSupported(path, restartPolicy, ["NotRequired", "RestartContainer"]));
    if (podRestartPolicy === "Never" && restartPolicy !== "NotRequired")
      errors.push(invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    return errors;
  });
}

const maxRestartRules = 20;
const maxExitCodes = 255;

function validateRestartPolicy({ restartPolicy, restartPolicyRules }: Container, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const rules = restartPolicyRules ?? [];
  const supported = ["Always", "Never", "OnFailure"];
  if (restartPolicy === undefined) {
    if (rules.length > 0) errors.push(required(path.child("restartPolicy"), "must specify restartPolicy when restart rules are used"));
  } else if (!supported.includes(restartPolicy)) {
    errors.push(notSupported(path.child("restartPolicy"), restartPolicy, supported));
  }
  const rulesPath = path.child("restartPolicyRules");
  if (rules.length > maxRestartRules) errors.push(tooMany(rulesPath, rules.length, maxRestartRules));
  rules.forEach((rule, index) => errors.push(...validateRestartRule(rule, rulesPath.index(index))));
  return errors;
}

function validateRestartRule({ action = "", exitCodes }: ContainerRestartRule, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!["Restart", "RestartAllContainers"].includes(action)) errors.push(notSupported(path.child("action"), action, ["Restart", "RestartAllContainers"]));
  if (exitCodes === undefined) return [...errors, required(path.child("exitCodes"), "must be specified")];
  const { operator = "", values = [] } = exitCodes;
  if (!["In", "NotIn"].includes(operator)) errors.push(notSupported(path.child("exitCodes", "operator"), operator, ["In", "NotIn"]));
  if (values.length > maxExitCodes) errors.push(tooMany(path.child("exitCodes", "values"), values.length, maxExitCodes));
  return errors;
}
