import { defaultPlugins, defaultSchedulerName } from "./configuration.ts";
import { argsOf } from "./build-profiles.ts";
import type { ExtensionPoint, PluginSet, ProfileConfiguration, SchedulerConfiguration } from "./configuration.ts";

/** A configuration with all defaults, as `/configz` shows it. */
export function writtenOut(configuration: SchedulerConfiguration): object {
  return {
    parallelism: 16,
    percentageOfNodesToScore: 0,
    podInitialBackoffSeconds: 1,
    podMaxBackoffSeconds: 10,
    ...configuration,
    apiVersion,
    kind: "KubeSchedulerConfiguration",
    leaderElection: { ...leaderElection, ...configuration.leaderElection },
    clientConnection: { ...clientConnection, ...(configuration as { clientConnection?: object }).clientConnection },
    enableContentionProfiling: true,
    enableProfiling: true,
    profiles: (configuration.profiles ?? [{}]).map((profile) => profileWrittenOut(profile, configuration)),
  };
}

const apiVersion = "kubescheduler.config.k8s.io/v1";
const clientConnection = { acceptContentTypes: "", burst: 100, contentType: "application/vnd.kubernetes.protobuf", kubeconfig: "", qps: 50 };
const leaderElection = {
  leaderElect: true,
  leaseDuration: "15s",
  renewDeadline: "10s",
  resourceLock: "leases",
  resourceName: "kube-scheduler",
  resourceNamespace: "kube-system",
  retryPeriod: "2s",
};

const points: readonly ExtensionPoint[] = [
  "bind",
  "filter",
  "permit",
  "placementGenerate",
  "placementScore",
  "podGroupPostFilter",
  "postBind",
  "postFilter",
  "preBind",
  "preEnqueue",
  "preFilter",
  "preScore",
  "queueSort",
  "reserve",
  "score",
];

function profileWrittenOut(profile: ProfileConfiguration, { extenders = [] }: SchedulerConfiguration): object {
  const args = argsOf(profile, extenders);
  const plugins: Partial<Record<ExtensionPoint, PluginSet>> = Object.fromEntries(points.map((point) => [point, {}]));
  return {
    ...profile,
    schedulerName: profile.schedulerName ?? defaultSchedulerName,
    plugins: { ...plugins, multiPoint: { enabled: defaultPlugins }, ...profile.plugins },
    pluginConfig: Object.entries(args).map(([name, own]) => ({ name, args: { apiVersion, kind: `${name}Args`, ...(own as object) } })),
  };
}
