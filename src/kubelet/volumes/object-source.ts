/**
 * ConfigMaps and Secrets that pods of this node name, each watched on its own while some pod names it: the node may read no others; and
 * ClusterTrustBundles, all of them, while some pod wants one.
 * Driven by pod workers: `hold` before a pod is started, `release` when it is gone.
 */
import { resources } from "../../client/index.ts";
import type { InformerSet } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ClusterTrustBundle } from "../../api/certificates-v1/types.ts";
import type { ConfigMap, Pod, Secret } from "../../api/core-v1/types.ts";

export class ObjectSource {
  readonly #informers: InformerSet;

  constructor(informers: InformerSet) {
    this.#informers = informers;
  }

  /** Watches what the pod names; `onChange` is called when one of them changes. */
  hold(pod: DeepReadonly<Pod>, onChange: () => void): PodObjects {
    const namespace = pod.metadata.namespace ?? "";
    const names = referencedNames(pod);
    const closers: (() => void)[] = [];
    const open = <T extends ConfigMap | Secret>(resource: Parameters<InformerSet["borrow"]>[0], name: string) => {
      const { informer, release } = this.#informers.borrow<T>(resource as never, { namespace, fieldSelector: `metadata.name=${name}` });
      closers.push(informer.subscribe(onChange, { isReplayed: false }), release);
      return informer;
    };
    const configMaps = new Map(names.configMaps.map((name) => [name, open<ConfigMap>(resources.configMaps, name)]));
    const secrets = new Map(names.secrets.map((name) => [name, open<Secret>(resources.secrets, name)]));
    const bundles = usesTrustBundles(pod) ? this.#informers.borrow(resources.clusterTrustBundles) : undefined;
    if (bundles !== undefined) closers.push(bundles.informer.subscribe(onChange, { isReplayed: false }), bundles.release);
    const all = [...configMaps.values(), ...secrets.values(), ...(bundles === undefined ? [] : [bundles.informer])];
    return {
      synced: async (signal) => void (await Promise.all(all.map((informer) => informer.synced(signal)))),
      trustBundles: () => bundles?.informer.list() ?? [],
      configMap: (name) => configMaps.get(name)?.get(namespace, name),
      secret: (name) => secrets.get(name)?.get(namespace, name),
      release: () => {
        for (const close of closers.splice(0)) close();
      },
    };
  }
}

export interface PodObjects {
  synced(signal: AbortSignal): Promise<void>;
  configMap(name: string): DeepReadonly<ConfigMap> | undefined;
  secret(name: string): DeepReadonly<Secret> | undefined;
  trustBundles(): readonly DeepReadonly<ClusterTrustBundle>[];
  release(): void;
}

export const noPodObjects: PodObjects = {
  synced: async () => undefined,
  trustBundles: () => [],
  configMap: () => undefined,
  secret: () => undefined,
  release: () => undefined,
};

function usesTrustBundles({ spec }: DeepReadonly<Pod>): boolean {
  return (spec?.volumes ?? []).some(({ projected }) => (projected?.sources ?? []).some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined));
}

/** Every ConfigMap and Secret that the spec names. Pure. */
export function referencedNames(pod: DeepReadonly<Pod>): { configMaps: string[]; secrets: string[] } {
  const configMaps = new Set<string | undefined>();
  const secrets = new Set<string | undefined>();
  const { volumes = [], containers = [], initContainers = [], ephemeralContainers = [], imagePullSecrets = [] } = pod.spec ?? {};
  for (const { configMap, secret, projected } of volumes) {
    configMaps.add(configMap?.name);
    secrets.add(secret?.secretName);
    for (const source of projected?.sources ?? []) {
      configMaps.add(source.configMap?.name);
      secrets.add(source.secret?.name);
    }
  }
  for (const { env = [], envFrom = [] } of [...containers, ...initContainers, ...ephemeralContainers]) {
    for (const { configMapRef, secretRef } of envFrom) {
      configMaps.add(configMapRef?.name);
      secrets.add(secretRef?.name);
    }
    for (const { valueFrom } of env) {
      configMaps.add(valueFrom?.configMapKeyRef?.name);
      secrets.add(valueFrom?.secretKeyRef?.name);
    }
  }
  for (const { name } of imagePullSecrets) secrets.add(name);
  const named = (names: ReadonlySet<string | undefined>) => [...names].filter((name): name is string => name !== undefined && name !== "");
  return { configMaps: named(configMaps), secrets: named(secrets) };
}
