/** What kube-apiserver refuses to start with, beyond values of the wrong type: each check gives upstream's text. */
import { admissionPluginNames } from "../../../../apiserver/admission/plugins.ts";
import { regExpFault } from "../../../../apimachinery/go/go-regexp.ts";
import { goQuote } from "../../../../apimachinery/go/go-quote.ts";
import { ipText, parseCidr, parseIp } from "../../../../apimachinery/net.ts";
import { isOn, last, lists, numberOf, parsePortRange, secondsOf } from "./flag-values.ts";
import type { Flags } from "./flag-values.ts";
import { tlsFaults } from "./tls-flags.ts";

/** The faults of `flags`, in the order in which upstream lists them. */
export function flagFaults(flags: Flags): string[] {
  return [
    ...serving(flags),
    ...storage(flags),
    ...services(flags),
    ...limits(flags),
    ...origins(flags),
    ...admission(flags),
    ...identity(flags),
    ...others(flags),
  ];
}

/** As upstream shows several faults at once. */
export function joinFaults(faults: readonly string[]): string {
  return faults.length === 1 ? faults[0]! : `[${faults.join(", ")}]`;
}

function* serving(flags: Flags): Iterable<string> {
  const port = numberOf(flags, "secure-port", 6443);
  if (port < 1 || port > 65_535) yield `--secure-port ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`;
  yield* tlsFaults(flags).map(({ text }) => text);
}

function* storage(flags: Flags): Iterable<string> {
  const backend = last(flags, "storage-backend") ?? "";
  if (!["", "etcd3"].includes(backend)) yield "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'";
  const mediaTypes = ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"];
  const mediaType = last(flags, "storage-media-type");
  if (mediaType !== undefined && !mediaTypes.includes(mediaType))
    yield `--storage-media-type ${goQuote(mediaType)} invalid, allowed values: ${mediaTypes.join(", ")}`;
  for (const size of lists(flags, "watch-cache-sizes") ?? []) {
    const parts = size.split("#");
    if (parts.length !== 2) yield `invalid value of watch cache size: ${size}`;
    else if (!/^\d+$/.test(parts[1]!)) yield `invalid size of watch cache size: ${size}`;
  }
}

function* services(flags: Flags): Iterable<string> {
  const ranges = lists(flags, "service-cluster-ip-range") ?? [];
  const cidrs = ranges.slice(0, 2).map((text) => parseCidr(text));
  const broken = cidrs.indexOf(undefined);
  if (broken >= 0) return yield `service-cluster-ip-range[${broken}] is not a valid cidr`;
  if (ranges.length > 2) yield "--service-cluster-ip-range must not contain more than two entries";
  else if (cidrs.length === 2 && cidrs[0]!.family === cidrs[1]!.family)
    yield "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family";
  else if (cidrs[0] !== undefined && cidrs[0].last - cidrs[0].first < 7n)
    yield "error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses";
  const range = parsePortRange(last(flags, "service-node-port-range") ?? "30000-32767");
  const port = numberOf(flags, "kubernetes-service-node-port", 0);
  if (port !== 0 && !("fault" in range) && (port < range.first || port > range.last))
    yield `kubernetes service node port range ${range.first}-${range.last} doesn't contain ${port}`;
  const reconciler = last(flags, "endpoint-reconciler-type");
  const advertised = parseIp(last(flags, "advertise-address") ?? "");
  if (advertised !== undefined && reconciler !== undefined && reconciler !== "none" && isLoopback(ipText(advertised)))
    yield `cannot use public IP ${ipText(advertised)} with endpoint reconciler: <nil>: Invalid value: ${goQuote(ipText(advertised))}: may not be in the loopback range (127.0.0.0/8, ::1/128)`;
  if (reconciler !== undefined && !["lease", "master-count", "none", ""].includes(reconciler)) yield `Reconciler not implemented: ${reconciler}`;
}

const isLoopback = (address: string) => address.startsWith("127.") || address === "::1";

function* limits(flags: Flags): Iterable<string> {
  const chance = numberOf(flags, "goaway-chance", 0);
  if (chance < 0 || chance > 0.02) yield "--goaway-chance can not be less than 0 or greater than 0.02";
  const reads = numberOf(flags, "max-requests-inflight", 400);
  const writes = numberOf(flags, "max-mutating-requests-inflight", 200);
  if (reads < 0) yield "--max-requests-inflight can not be negative value";
  if (writes < 0) yield "--max-mutating-requests-inflight can not be negative value";
  if (reads === 0 && writes === 0 && isOn(flags, "enable-priority-and-fairness", true))
    yield "invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive";
  if (secondsOf(flags, "request-timeout", 60) < 0) yield "--request-timeout can not be negative value";
  if (numberOf(flags, "min-request-timeout", 1800) < 0) yield "--min-request-timeout can not be negative value";
  if (secondsOf(flags, "shutdown-delay-duration", 0) < 0) yield "--shutdown-delay-duration can not be negative value";
  if (secondsOf(flags, "livez-grace-period", 0) < 0) yield "--livez-grace-period can not be a negative value";
}

const corsHelp =
  "List of allowed origins for CORS, comma separated. An allowed origin can be a regular expression to support subdomain matching. If this list is empty CORS will not be enabled. Please ensure each expression matches the entire hostname by anchoring to the start with '^' or including the '//' prefix, and by anchoring to the end with '$' or including the ':' port separator suffix. Examples of valid expressions are '//example\\.com(:|$)' and '^https://example\\.com(:|$)'";

function* origins(flags: Flags): Iterable<string> {
  for (const expression of lists(flags, "cors-allowed-origins") ?? []) {
    const fault = regExpFault(expression);
    const isPinned = /\^|\/\//.test(expression) && /\$|:(?!\/)/.test(expression);
    if (fault !== undefined) yield `--cors-allowed-origins has an invalid regular expression: ${fault}, help: ${corsHelp}`;
    else if (!isPinned)
      yield `--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the origin header, help: ${corsHelp}`;
  }
  const isDirective = (text: string) => /^(max-age=.+|includeSubDomains|preload)$/.test(text);
  if ((lists(flags, "strict-transport-security-directives") ?? []).some((text) => !isDirective(text)))
    yield "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information";
}

function* admission(flags: Flags): Iterable<string> {
  const enabled = lists(flags, "enable-admission-plugins") ?? [];
  const disabled = lists(flags, "disable-admission-plugins") ?? [];
  if (flags.has("admission-control") && (enabled.length > 0 || disabled.length > 0))
    yield "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive";
  for (const [flag, names] of Object.entries({ "enable-admission-plugins": enabled, "disable-admission-plugins": disabled })) {
    for (const name of names) if (!admissionPluginNames.includes(name)) yield `${flag} plugin ${goQuote(name)} is unknown`;
  }
  const both = enabled.filter((name) => disabled.includes(name));
  if (both.length > 0) yield `[${both.join(" ")}] in enable-admission-plugins and disable-admission-plugins overlapped`;
}

const authorizationModes = ["AlwaysAllow", "AlwaysDeny", "ABAC", "RBAC", "Node", "Webhook"];

function* identity(flags: Flags): Iterable<string> {
  const modes = lists(flags, "authorization-mode") ?? [];
  for (const mode of modes) if (!authorizationModes.includes(mode)) yield `authorization-mode ${goQuote(mode)} is not a valid mode`;
  if (new Set(modes).size < modes.length) yield `authorization-mode [${modes.map(goQuote).join(" ")}] has mode specified more than once`;
  if (modes.includes("Webhook") && !flags.has("authorization-webhook-config-file")) yield "authorization-mode Webhook's authorization config file not passed";
  if (modes.includes("ABAC") && !flags.has("authorization-policy-file")) yield "authorization-mode ABAC's authorization policy file not passed";
  const isByWebhookFlags = [...flags.keys()].some((name) => name.startsWith("authorization-webhook-"));
  if (flags.has("authorization-config") && (flags.has("authorization-mode") || isByWebhookFlags))
    yield "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined";
  else {
    for (const [flag, mode] of Object.entries({ "authorization-policy-file": "ABAC", "authorization-webhook-config-file": "Webhook" }))
      if (flags.has(flag) && !modes.includes(mode)) yield `cannot specify --${flag} without mode ${mode}`;
  }
  if (flags.has("authentication-config") && [...flags.keys()].some((name) => name.startsWith("oidc-")))
    yield "authentication-config file and oidc-* flags are mutually exclusive";
  if (flags.has("oidc-issuer-url") !== flags.has("oidc-client-id"))
    yield "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set";
  const longest = secondsOf(flags, "service-account-max-token-expiration", 0);
  if (longest !== 0 && (longest < 3600 || longest > 2 ** 32)) yield "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds";
  const uidHeaders = lists(flags, "requestheader-uid-headers") ?? [];
  if (uidHeaders.length > 0 && !uidHeaders.some((name) => name.toLowerCase() === "x-remote-uid"))
    yield "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work";
}

const previousRelease = "1.36";

function* others(flags: Flags): Iterable<string> {
  const format = last(flags, "audit-log-format");
  if (format !== undefined && !["legacy", "json"].includes(format)) yield `invalid audit log format ${format}, allowed formats are "legacy,json"`;
  const logging = last(flags, "logging-format");
  if (logging !== undefined && !["text", "json"].includes(logging)) yield `format: Invalid value: ${goQuote(logging)}: Unsupported log format`;
  const hidden = last(flags, "show-hidden-metrics-for-version");
  if (hidden !== undefined && hidden !== "" && hidden !== previousRelease)
    yield `metrics.showHiddenMetricsForVersion: Invalid value: ${goQuote(hidden)}: must be omitted or have the value '${previousRelease}'; only the previous minor version is allowed`;
}
