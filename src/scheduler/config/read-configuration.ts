import { isObject } from "../../apimachinery/json.ts";
import { yamlToJson } from "../../apimachinery/yaml/yaml.ts";
import { checkExtenders } from "../extenders/configuration.ts";
import { ConfigurationError } from "./configuration-error.ts";
import type { SchedulerConfiguration } from "./configuration.ts";

/** Reads a KubeSchedulerConfiguration, YAML or JSON, as `--config` names it. Throws `ConfigurationError` for a file that is none. */
export function readConfiguration(bytes: Uint8Array): SchedulerConfiguration {
  const value = parse(bytes);
  if (!isObject(value)) throw new ConfigurationError("the scheduler's configuration is not an object");
  if (value.apiVersion !== apiVersion || value.kind !== kind)
    throw new ConfigurationError(
      `the scheduler's configuration is no ${kind} of ${apiVersion}: ${JSON.stringify(value.kind ?? "")} of ${JSON.stringify(value.apiVersion ?? "")}`,
    );
  const configuration = value as unknown as SchedulerConfiguration;
  checkNames(configuration);
  checkExtenders(configuration.extenders ?? []);
  return configuration;
}

const apiVersion = "kubescheduler.config.k8s.io/v1";
const kind = "KubeSchedulerConfiguration";

function parse(bytes: Uint8Array): unknown {
  try {
    return yamlToJson(bytes);
  } catch (error) {
    throw new ConfigurationError(`the scheduler's configuration cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function checkNames({ profiles = [] }: SchedulerConfiguration): void {
  const names = profiles.map(({ schedulerName = "" }) => schedulerName);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new ConfigurationError(`two profiles have the scheduler name ${JSON.stringify(twice)}`);
}
