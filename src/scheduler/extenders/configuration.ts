import { parseDuration } from "../../api/batch-v1/duration.ts";
import { ConfigurationError } from "../config/configuration-error.ts";

/** `extenders` of a KubeSchedulerConfiguration. */
export interface ExtenderConfiguration {
  readonly urlPrefix?: string;
  readonly filterVerb?: string;
  readonly preemptVerb?: string;
  readonly prioritizeVerb?: string;
  readonly weight?: number;
  readonly bindVerb?: string;
  readonly enableHTTPS?: boolean;
  readonly tlsConfig?: ExtenderTls;
  /** As Go writes durations; 5 s when absent. */
  readonly httpTimeout?: string;
  readonly nodeCacheCapable?: boolean;
  readonly managedResources?: readonly { readonly name: string; readonly ignoredByScheduler?: boolean }[];
  readonly ignorable?: boolean;
}

/** Files, or base64 in the configuration itself. */
export interface ExtenderTls {
  readonly insecure?: boolean;
  readonly serverName?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly caFile?: string;
  readonly certData?: string;
  readonly keyData?: string;
  readonly caData?: string;
}

/** Throws `ConfigurationError` for extenders that cannot be used. */
export function checkExtenders(extenders: readonly ExtenderConfiguration[]): void {
  for (const [index, extender] of extenders.entries()) {
    const { urlPrefix = "", prioritizeVerb = "", weight = 0 } = extender;
    const field = `extenders[${index}]`;
    if (!/^https?:\/\/./.test(urlPrefix))
      throw new ConfigurationError(`${field}.urlPrefix: Invalid value: ${JSON.stringify(urlPrefix)}: must be an http(s) URL`);
    if (prioritizeVerb !== "" && weight <= 0)
      throw new ConfigurationError(`${field}.weight: Invalid value: ${weight}: must have a positive weight applied to it`);
    timeoutMsOf(extender);
  }
  const binders = extenders.filter(({ bindVerb = "" }) => bindVerb !== "").length;
  if (binders > 1)
    throw new ConfigurationError(`extenders: Invalid value: "found ${binders} extenders implementing bind": only one extender can implement bind`);
}

export function timeoutMsOf({ httpTimeout }: ExtenderConfiguration): number {
  if (httpTimeout === undefined) return defaultTimeoutMs;
  const duration = parseDuration(httpTimeout);
  if ("fault" in duration) throw new ConfigurationError(`httpTimeout: ${duration.fault}`);
  return duration.seconds === 0 ? defaultTimeoutMs : duration.seconds * 1000;
}

const defaultTimeoutMs = 5_000;

/** Extended resources that NodeResourcesFit leaves to extenders. */
export function ignoredResources(extenders: readonly ExtenderConfiguration[]): readonly string[] {
  return extenders.flatMap(({ managedResources = [] }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler === true).map(({ name }) => name),
  );
}
