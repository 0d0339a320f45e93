/**
 * The environment of a container, in the order Kubernetes gives it: `envFrom`, then `env` with its sources and `$(NAME)`, and variables of
 * Services where nothing else set them. Pure: objects are looked up by the caller's functions.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ConfigMap, EnvVar, EnvVarSource, FileKeySelector, Pod, Secret, Service } from "../../api/core-v1/types.ts";
import type { AnyContainer } from "../pod-sync/runtime-names.ts";
import { ConfigError } from "./config-error.ts";
import { expand } from "./expand.ts";
import { fieldValue, resourceValue } from "./field-values.ts";
import type { PodFacts } from "./field-values.ts";
import { serviceVariables } from "./service-variables.ts";
import type { ServicePlace } from "./service-variables.ts";

/** Throws `ConfigError` when a source is missing that is not optional. */
export function containerEnvironment(pod: DeepReadonly<Pod>, container: AnyContainer, sources: EnvironmentSources): Map<string, string> {
  const namespace = pod.metadata.namespace ?? "";
  const fromServices = serviceVariables(sources.services, {
    namespace,
    isLinked: pod.spec?.enableServiceLinks !== false,
    ...(sources.servicePlace !== undefined && { placeOf: sources.servicePlace }),
  });
  const variables = new Map<string, string>();
  for (const { prefix = "", configMapRef, secretRef } of container.envFrom ?? []) {
    const data =
      configMapRef !== undefined
        ? configMapData(sources.configMap(configMapRef.name ?? ""), configMapRef)
        : secretRef === undefined
          ? {}
          : secretData(sources.secret(secretRef.name ?? ""), secretRef);
    for (const key of Object.keys(data).toSorted()) if (!key.includes("=") && key !== "") variables.set(prefix + key, data[key]!);
  }
  const known = new Map([...fromServices, ...variables]);
  for (const variable of container.env ?? []) {
    const value = valueOf({ pod, container, sources }, variable, known);
    if (value === undefined) continue;
    variables.set(variable.name, value);
    known.set(variable.name, value);
  }
  for (const [name, value] of fromServices) if (!variables.has(name)) variables.set(name, value);
  return variables;
}

export interface EnvironmentSources {
  readonly facts: PodFacts;
  readonly services: readonly DeepReadonly<Service>[];
  /** Where pods reach Services, when it is not at their ClusterIPs. */
  readonly servicePlace?: ServicePlace;
  /** Undefined when there is none of that name in the pod's namespace. */
  configMap(name: string): DeepReadonly<ConfigMap> | undefined;
  secret(name: string): DeepReadonly<Secret> | undefined;
  /** Variables in a file of a volume; undefined when there is no such file. Throws `ConfigError`. */
  envFile(volumeName: string, path: string): ReadonlyMap<string, string> | undefined;
}

interface Context {
  readonly pod: DeepReadonly<Pod>;
  readonly container: AnyContainer;
  readonly sources: EnvironmentSources;
}

function valueOf(context: Context, { value, valueFrom }: DeepReadonly<EnvVar>, known: ReadonlyMap<string, string>): string | undefined {
  if (value !== undefined && value !== "") return expand(value, known);
  return valueFrom === undefined ? "" : sourceValue(context, valueFrom);
}

/** Undefined when an optional source is missing: the variable is then not set. */
function sourceValue({ pod, container, sources }: Context, source: DeepReadonly<EnvVarSource>): string | undefined {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef !== undefined) return fieldValue(pod, sources.facts, fieldRef.fieldPath);
  if (resourceFieldRef !== undefined) return resourceValue(pod, sources.facts, resourceFieldRef, container.name);
  if (fileKeyRef !== undefined) return fileValue(sources, fileKeyRef);
  const reference = configMapKeyRef ?? secretKeyRef;
  if (reference === undefined) return "";
  const name = reference.name ?? "";
  const data = configMapKeyRef === undefined ? secretData(sources.secret(name), reference) : configMapData(sources.configMap(name), reference);
  const value = Object.hasOwn(data, reference.key) ? data[reference.key] : undefined;
  if (value === undefined && reference.optional !== true) {
    throw new ConfigError(`couldn't find key ${reference.key} in ${configMapKeyRef === undefined ? "Secret" : "ConfigMap"} ${pod.metadata.namespace}/${name}`);
  }
  return value;
}

function fileValue(sources: EnvironmentSources, { volumeName, path, key, optional }: DeepReadonly<FileKeySelector>): string | undefined {
  const value = sources.envFile(volumeName, path)?.get(key);
  if (value === undefined && optional !== true)
    throw new ConfigError(`environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(path)}`);
  return value;
}

type Reference = { readonly name?: string; readonly optional?: boolean };

function configMapData(configMap: DeepReadonly<ConfigMap> | undefined, { name, optional }: Reference): Readonly<Record<string, string>> {
  if (configMap !== undefined) return configMap.data ?? {};
  if (optional === true) return {};
  throw new ConfigError(`configmap ${JSON.stringify(name)} not found`);
}

function secretData(secret: DeepReadonly<Secret> | undefined, { name, optional }: Reference): Record<string, string> {
  if (secret === undefined) {
    if (optional === true) return {};
    throw new ConfigError(`secret ${JSON.stringify(name)} not found`);
  }
  return Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}
