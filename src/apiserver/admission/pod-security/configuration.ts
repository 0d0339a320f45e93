/** What `--admission-control-config-file` says about PodSecurity (API type pod-security.admission.config.k8s.io/v1 PodSecurityConfiguration). */
import { isLevel, parseVersion, privilegedPolicy } from "./levels.ts";
import type { LevelVersion, Mode, NamespacePolicy } from "./levels.ts";

export interface PodSecurityConfiguration {
  readonly defaults: NamespacePolicy;
  readonly exemptions: { readonly usernames: ReadonlySet<string>; readonly runtimeClasses: ReadonlySet<string>; readonly namespaces: ReadonlySet<string> };
}

export const defaultConfiguration: PodSecurityConfiguration = {
  defaults: privilegedPolicy,
  exemptions: { usernames: new Set(), runtimeClasses: new Set(), namespaces: new Set() },
};

/** Reads the configuration; throws an Error that says which value is wrong. */
export function readConfiguration(raw: unknown): PodSecurityConfiguration {
  if (raw === undefined) return defaultConfiguration;
  const { defaults = {}, exemptions = {} } = raw as { defaults?: Record<string, string>; exemptions?: Record<string, string[]> };
  const read = (mode: Mode): LevelVersion => {
    const level = defaults[mode] ?? "privileged";
    if (!isLevel(level)) throw new Error(`defaults.${mode}: Invalid value: ${JSON.stringify(level)}: must be one of privileged, baseline, restricted`);
    const version = defaults[`${mode}-version`] ?? "latest";
    const minor = parseVersion(version);
    if (minor === "unreadable") throw new Error(`defaults.${mode}-version: Invalid value: ${JSON.stringify(version)}: must be "latest" or "v1.x"`);
    return { level, minor };
  };
  const names = (key: string) => new Set(exemptions[key] ?? []);
  return {
    defaults: { enforce: read("enforce"), audit: read("audit"), warn: read("warn") },
    exemptions: { usernames: names("usernames"), runtimeClasses: names("runtimeClasses"), namespaces: names("namespaces") },
  };
}
