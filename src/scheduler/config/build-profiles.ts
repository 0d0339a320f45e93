import { ConfigurationError } from "./configuration-error.ts";
import { defaultArgs, defaultPlugins, defaultSchedulerName } from "./configuration.ts";
import { gangPlugin } from "../plugins/queue/gang-scheduling.ts";
import { podGroupPodsCount, topologyPlugin } from "../plugins/queue/topology-placement.ts";
import { ignoredResources } from "../extenders/configuration.ts";
import { extenderListener } from "../extenders/extender-listener.ts";
import type { ExtenderConfiguration } from "../extenders/configuration.ts";
import type { NodeResourcesFitArgs } from "../plugins/resources/node-resources-fit.ts";
import type { Plugin } from "../framework/plugin.ts";
import type { Profile } from "../framework/profile.ts";
import type { ExtensionPoint, PluginArgs, PluginSet, ProfileConfiguration, SchedulerConfiguration } from "./configuration.ts";
import type { PluginRegistry, PluginServices } from "./plugin-registry.ts";

/** Makes the profiles of a configuration, by scheduler name. Throws `ConfigurationError` for a plugin that there is not. */
export function buildProfiles(configuration: SchedulerConfiguration, registry: PluginRegistry, services: PluginServices): ReadonlyMap<string, Profile> {
  const profiles = configuration.profiles ?? [{}];
  return new Map(
    profiles.map((profile) => {
      const schedulerName = profile.schedulerName ?? defaultSchedulerName;
      const percentageOfNodesToScore = profile.percentageOfNodesToScore ?? configuration.percentageOfNodesToScore ?? 0;
      return [schedulerName, { schedulerName, percentageOfNodesToScore, ...pluginsOf(profile, registry, services, configuration.extenders ?? []) }];
    }),
  );
}

const hooks: readonly { readonly point: ExtensionPoint; readonly members: readonly (keyof Plugin)[] }[] = [
  { point: "preEnqueue", members: ["preEnqueue"] },
  { point: "queueSort", members: ["compare"] },
  { point: "preFilter", members: ["preFilter"] },
  { point: "filter", members: ["preFilter"] },
  { point: "postFilter", members: ["postFilter"] },
  { point: "preScore", members: ["preScore"] },
  { point: "score", members: ["preScore"] },
  { point: "reserve", members: ["reserve"] },
  { point: "permit", members: ["permit"] },
  { point: "bind", members: ["bind"] },
  { point: "postBind", members: ["postBind"] },
  { point: "placementScore", members: ["placementScore"] },
];

function pluginsOf(
  profile: ProfileConfiguration,
  registry: PluginRegistry,
  services: PluginServices,
  extenders: readonly ExtenderConfiguration[],
): Pick<Profile, "plugins" | "weights" | "placementWeights"> {
  const args = argsOf(profile, extenders);
  const multiPoint = merged([...defaultPlugins, ...groupPlugins(services)], profile.plugins?.multiPoint);
  const weights = new Map(multiPoint.map(({ name, weight = 1 }) => [name, weight === 0 ? 1 : weight]));
  const names = new Set(multiPoint.map(({ name }) => name));
  for (const set of Object.values(profile.plugins ?? {})) for (const { name } of set?.enabled ?? []) names.add(name);
  const plugins = [...names].map((name) => {
    const make = registry[name];
    if (make === undefined) throw new ConfigurationError(`plugin ${JSON.stringify(name)} does not exist`);
    const plugin = { ...make(args, services) };
    for (const { point, members } of hooks)
      if (!isEnabled(name, profile.plugins?.[point], weights.has(name))) for (const member of members) delete plugin[member];
    return plugin;
  });
  for (const { name, weight = 0 } of profile.plugins?.score?.enabled ?? []) if (weight > 0 || !weights.has(name)) weights.set(name, weight === 0 ? 1 : weight);
  const placementWeights = new Map((profile.plugins?.placementScore?.enabled ?? []).map(({ name, weight = 0 }) => [name, weight === 0 ? 1 : weight]));
  return { plugins: extenders.length === 0 ? plugins : [...plugins, extenderListener], weights, placementWeights };
}

function groupPlugins({ podGroups }: PluginServices): NonNullable<PluginSet["enabled"]> {
  if (podGroups === undefined) return [];
  return [{ name: gangPlugin }, ...(podGroups.hasTopology ? [{ name: topologyPlugin }, { name: podGroupPodsCount.name }] : [])];
}

function merged(defaults: NonNullable<PluginSet["enabled"]>, set: PluginSet | undefined): NonNullable<PluginSet["enabled"]> {
  const enabled = set?.enabled ?? [];
  const isReplaced = (name: string) => enabled.some((one) => one.name === name);
  const kept = defaults.filter(({ name }) => !isDisabled(name, set));
  const inPlace = kept.map((one) => enabled.find(({ name }) => name === one.name) ?? one);
  return [...inPlace, ...enabled.filter(({ name }) => !kept.some((one) => one.name === name && isReplaced(name)))];
}

function isEnabled(name: string, set: PluginSet | undefined, isByDefault: boolean): boolean {
  if (set?.enabled?.some((one) => one.name === name) === true) return true;
  return isByDefault && !isDisabled(name, set);
}

function isDisabled(name: string, set: PluginSet | undefined): boolean {
  return set?.disabled?.some((one) => one.name === name || one.name === "*") === true;
}

/** The arguments of all plugins that take any, by name. */
export function argsOf({ pluginConfig = [] }: ProfileConfiguration, extenders: readonly ExtenderConfiguration[]): PluginArgs & Record<string, unknown> {
  const args: Record<string, unknown> = { ...defaultArgs };
  for (const { name, args: own } of pluginConfig) args[name] = { ...(args[name] as object | undefined), ...(own as object | undefined) };
  const left = ignoredResources(extenders);
  const fit = args.NodeResourcesFit as NodeResourcesFitArgs;
  if (left.length > 0) args.NodeResourcesFit = { ...fit, ignoredResources: [...(fit.ignoredResources ?? []), ...left] };
  return args as unknown as PluginArgs & Record<string, unknown>;
}
