/** All admission plugins in Kubernetes' order, and which are on by default (flag `enable-admission-plugins`). */
import type { AdmissionPlugin } from "./chain.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";

interface KnownPlugin {
  readonly plugin: AdmissionPlugin;
  readonly isDefault: boolean;
}

const known: readonly KnownPlugin[] = [{ plugin: namespaceLifecycle, isDefault: true }];

/** The plugins to run. Names that nobody knows are refused by the flags' reader. */
export function admissionPlugins(choice: { readonly enabled: readonly string[]; readonly disabled: readonly string[] }): AdmissionPlugin[] {
  return known.filter(({ plugin, isDefault }) => (isDefault || choice.enabled.includes(plugin.name)) && !choice.disabled.includes(plugin.name)).map(({ plugin }) => plugin);
}

/** Names that `--enable-admission-plugins` takes. */
export const admissionPluginNames: readonly string[] = known.map(({ plugin }) => plugin.name);
