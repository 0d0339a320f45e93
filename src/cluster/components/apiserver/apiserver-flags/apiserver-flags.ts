/** Flags of kube-apiserver that the server understands (`--apiserver.FLAG=…`), as settings. */
import { gateStates } from "../../../../api/feature-gates.ts";
import type { GateStates } from "../../../../api/feature-gates.ts";
import { AddressRange } from "../../../../apiserver/services/address-range.ts";
import type { PluginChoice } from "../../../../apiserver/admission/plugins.ts";
import type { ServerSettings } from "../../../../apiserver/server-state.ts";
import { UsageError } from "../../../commands/arguments.ts";
import type { EncryptionOptions } from "../../../encryption/encryption-at-rest.ts";
import type { UpOptions } from "../../../commands/up-options.ts";
import { flagFaults, joinFaults } from "./flag-checks.ts";
import { checkFlagValues, isOn, last, lists, numberOf, parsePortRange, secondsOf, storageRootOf } from "./flag-values.ts";
import type { Flags, PortRange } from "./flag-values.ts";
import { readReleases, readRuntimeConfig } from "./versions.ts";
import type { Releases } from "./versions.ts";

export interface ApiServerFlags {
  readonly settings: Omit<ServerSettings, "advertiseAddress" | "securePort" | "clientAuthority" | "maxBodyBytes">;
  readonly advertiseAddress: string | undefined;
  /** First address of the service range: the `kubernetes` Service's. */
  readonly serviceAddress: string;
  readonly gates: GateStates;
  readonly runtimeConfig: Readonly<Record<string, boolean>>;
  readonly allowsBootstrapTokens: boolean;
  /** Encryption at rest, where a configuration is given. */
  readonly encryption: EncryptionOptions | undefined;
  readonly admission: Omit<PluginChoice, "configurations">;
}

/** Throws UsageError for a flag that kube-apiserver does not have, or a value that it would refuse. */
export function apiServerFlags(flags: Flags, options: Pick<UpOptions, "serviceCidrs" | "components">): ApiServerFlags {
  checkFlagValues(flags);
  const { releases, gates, runtimeConfig } = checkedChoices(flags);
  const asked = lists(flags, "service-cluster-ip-range") ?? [];
  const serviceCidrs = asked.length > 0 ? asked : options.serviceCidrs;
  const storageRoot = storageRootOf(flags);
  const encryptionFile = last(flags, "encryption-provider-config");
  const issuer = last(flags, "service-account-issuer") ?? "https://kubernetes.default.svc.cluster.local";
  return {
    settings: {
      storageRoot,
      requestTimeoutMs: secondsOf(flags, "request-timeout", 60) * 1000,
      minRequestTimeoutMs: numberOf(flags, "min-request-timeout", 1800) * 1000,
      eventTtlSeconds: secondsOf(flags, "event-ttl", 3600),
      compactionIntervalMs: secondsOf(flags, "etcd-compaction-interval", 300) * 1000,
      anonymousAuth: isOn(flags, "anonymous-auth", true),
      hasPriorityAndFairness: isOn(flags, "enable-priority-and-fairness", true),
      maxRequestsInFlight: numberOf(flags, "max-requests-inflight", 400),
      maxMutatingRequestsInFlight: numberOf(flags, "max-mutating-requests-inflight", 200),
      serviceAccountIssuer: issuer,
      apiAudiences: lists(flags, "api-audiences") ?? [issuer],
      allowPrivileged: isOn(flags, "allow-privileged", true),
      serviceCidrs,
      nodePortRange: parsePortRange(last(flags, "service-node-port-range") ?? "30000-32767") as PortRange,
      emulatedVersion: releases.emulated,
      minCompatibilityVersion: releases.minCompatibility,
      ...servingSettings(flags),
    },
    advertiseAddress: last(flags, "advertise-address"),
    serviceAddress: new AddressRange(serviceCidrs[0]!).first,
    gates,
    runtimeConfig,
    encryption:
      encryptionFile === undefined
        ? undefined
        : {
            file: encryptionFile,
            reloads: isOn(flags, "encryption-provider-config-automatic-reload", false),
            storageRoot,
            allowsKmsV1: gates["KMSv1"] === true,
          },
    allowsBootstrapTokens: isOn(flags, "enable-bootstrap-token-auth", options.components.has("nodes")),
    admission: {
      enabled: ["NodeRestriction", ...(lists(flags, "enable-admission-plugins") ?? [])],
      disabled: lists(flags, "disable-admission-plugins") ?? [],
      tolerationSeconds: {
        notReady: numberOf(flags, "default-not-ready-toleration-seconds", 300),
        unreachable: numberOf(flags, "default-unreachable-toleration-seconds", 300),
      },
    },
  };
}

function servingSettings(flags: Flags) {
  return {
    hasGarbageCollector: isOn(flags, "enable-garbage-collector", true),
    hasWatchCache: isOn(flags, "watch-cache", true),
    hasProfiling: isOn(flags, "profiling", true),
    externalHostname: last(flags, "external-hostname") ?? "",
    corsAllowedOrigins: lists(flags, "cors-allowed-origins") ?? [],
    strictTransportSecurity: lists(flags, "strict-transport-security-directives") ?? [],
    kubernetesServiceNodePort: numberOf(flags, "kubernetes-service-node-port", 0),
    publishesEndpoints: last(flags, "endpoint-reconciler-type") !== "none",
  };
}

interface Choices {
  readonly releases: Releases;
  readonly gates: GateStates;
  readonly runtimeConfig: Readonly<Record<string, boolean>>;
}

function checkedChoices(flags: Flags): Choices {
  const releases = readReleases(flags);
  if ("faults" in releases) throw new UsageError(joinFaults(releases.faults));
  const gates = gateStates(lists(flags, "feature-gates") ?? [], releases.emulated);
  if (typeof gates["fault"] === "string") throw new UsageError(gates["fault"]);
  const faults = flagFaults(flags);
  if (faults.length > 0) throw new UsageError(joinFaults(faults));
  const runtimeConfig = readRuntimeConfig(flags);
  if (typeof runtimeConfig["fault"] === "string") throw new UsageError(runtimeConfig["fault"]);
  return { releases, gates: gates as GateStates, runtimeConfig: runtimeConfig as Record<string, boolean> };
}
