import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { apiServerFlags } from "./apiserver-flags.ts";

/** Flags, and why upstream does not start with them (undefined: it does). */
const rows: readonly (readonly [flags: string, fault: string | undefined])[] = [
  ["--nonsense=1", "unknown flag: --nonsense"],
  ["--secure-port=0", "--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0"],
  ["--secure-port=70000", "--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0"],
  ["--secure-port=x", 'invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax'],
  ["--service-account-issuer=https://", undefined],
  ["--service-cluster-ip-range=10.0.0.0/7", undefined],
  [
    "--service-cluster-ip-range=10.0.0.0/31",
    "error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses",
  ],
  ["--service-cluster-ip-range=10.0.0.0/16,10.1.0.0/16", "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family"],
  ["--service-cluster-ip-range=10.0.0.0/16,fd00:10::/108,fd01::/108", "--service-cluster-ip-range must not contain more than two entries"],
  ["--service-cluster-ip-range=x", "service-cluster-ip-range[0] is not a valid cidr"],
  ["--service-cluster-ip-range=", undefined],
  ["--service-cluster-ip-range=fd00:10::/108", undefined],
  ["--service-cluster-ip-range=fd00:10::/32 --advertise-address=fd00::1", undefined],
  ["--service-cluster-ip-range=10.0.0.0/16,fd00:10::/32", undefined],
  ["--endpoint-reconciler-type=foo", "Reconciler not implemented: foo"],
  ["--authorization-mode=Foo", 'authorization-mode "Foo" is not a valid mode'],
  ["--authorization-mode=RBAC,RBAC", 'authorization-mode ["RBAC" "RBAC"] has mode specified more than once'],
  ["--authorization-mode=", undefined],
  ["--authorization-mode=Webhook", "authorization-mode Webhook's authorization config file not passed"],
  ["--authorization-mode=ABAC", "authorization-mode ABAC's authorization policy file not passed"],
  ["--enable-admission-plugins=Foo", 'enable-admission-plugins plugin "Foo" is unknown'],
  ["--disable-admission-plugins=Foo", 'disable-admission-plugins plugin "Foo" is unknown'],
  ["--disable-admission-plugins=NodeRestriction", "[NodeRestriction] in enable-admission-plugins and disable-admission-plugins overlapped"],
  ["--tls-min-version=VersionTLS14", 'unknown tls version "VersionTLS14"'],
  ["--tls-min-version=VersionTLS13 --tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA", undefined],
  ["--tls-cipher-suites=FOO", "Cipher suite FOO not supported or doesn't exist"],
  ["--tls-sni-cert-key=a", 'invalid argument "a" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths'],
  ["--tls-cipher-suites=TLS_FOO", "Cipher suite TLS_FOO not supported or doesn't exist"],
  ["--tls-sni-cert-key=a,b:", 'invalid argument "a,b:" for "--tls-sni-cert-key" flag: empty names list is not allowed'],
  ["--tls-sni-cert-key=a,b:example.com,*.example.com --tls-sni-cert-key=c,d", undefined],
  ["--feature-gates=Foo=true", "unrecognized feature gate: Foo"],
  ["--feature-gates=WatchList=maybe", 'invalid value of WatchList=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'],
  ["--feature-gates=WatchList", "missing bool value for WatchList"],
  ["--feature-gates=APIServerTracing=false", "unrecognized feature gate: APIServerTracing"],
  ["--feature-gates=ServerSideApply=false", "unrecognized feature gate: ServerSideApply"],
  ["--feature-gates=WorkloadWithJob=true", "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]"],
  ["--runtime-config=foo/v1=true", "unknown api groups foo/v1"],
  ["--runtime-config=apps/v1beta1=true", undefined],
  ["--runtime-config=apps/v9=true", "group version apps/v9 that has not been registered"],
  ["--runtime-config=api/legacy=true", undefined],
  ["--runtime-config=api/all=maybe", "invalid value api/all=maybe"],
  ["--runtime-config=apps/v1/deployments=false", undefined],
  ["--emulated-version=1.38", "emulation version 1.38 is not between [1.34, 1.37.0]"],
  ["--emulated-version=1.33", "[emulation version 1.33 is not between [1.34, 1.37.0], minCompatibilityVersion version 1.34 is not between [1.34, 1.33]]"],
  ["--emulated-version=x", 'could not parse "x" as version'],
  ["--emulated-version=1.36.1", "patch version not allowed, got: kube=1.36.1"],
  ["--min-compatibility-version=1.37 --emulated-version=1.36", "minCompatibilityVersion version 1.37 is not between [1.34, 1.36]"],
  [
    "--storage-media-type=text/plain",
    '--storage-media-type "text/plain" invalid, allowed values: application/json, application/vnd.kubernetes.protobuf, application/yaml',
  ],
  ["--storage-backend=etcd2", "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'"],
  [
    "--service-node-port-range=1-70000",
    'invalid argument "1-70000" for "--service-node-port-range" flag: the port range cannot be greater than 65535: 1-70000',
  ],
  ["--service-node-port-range=30000", undefined],
  ["--service-node-port-range=400-300", 'invalid argument "400-300" for "--service-node-port-range" flag: end port cannot be less than start port: 400-300'],
  ["--kubernetes-service-node-port=1", "kubernetes service node port range 30000-32767 doesn't contain 1"],
  ["--goaway-chance=0.5", "--goaway-chance can not be less than 0 or greater than 0.02"],
  ["--goaway-chance=-1", "--goaway-chance can not be less than 0 or greater than 0.02"],
  ["--max-requests-inflight=-1", "--max-requests-inflight can not be negative value"],
  ["--max-mutating-requests-inflight=-1", "--max-mutating-requests-inflight can not be negative value"],
  [
    "--max-requests-inflight=0 --max-mutating-requests-inflight=0",
    "invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive",
  ],
  ["--request-timeout=-1s", "--request-timeout can not be negative value"],
  ["--request-timeout=5", 'invalid argument "5" for "--request-timeout" flag: time: missing unit in duration "5"'],
  ["--min-request-timeout=-1", "--min-request-timeout can not be negative value"],
  ["--shutdown-delay-duration=-1s", "--shutdown-delay-duration can not be negative value"],
  ["--livez-grace-period=-1s", "--livez-grace-period can not be a negative value"],
  ["--event-ttl=x", 'invalid argument "x" for "--event-ttl" flag: time: invalid duration "x"'],
  [
    "--cors-allowed-origins=[",
    "--cors-allowed-origins has an invalid regular expression: error parsing regexp: missing closing ]: `[`, help: List of allowed origins for CORS, comma separated. An allowed origin can be a regular expression to support subdomain matching. If this list is empty CORS will not be enabled. Please ensure each expression matches the entire hostname by anchoring to the start with '^' or including the '//' prefix, and by anchoring to the end with '$' or including the ':' port separator suffix. Examples of valid expressions are '//example\\.com(:|$)' and '^https://example\\.com(:|$)'",
  ],
  [
    "--cors-allowed-origins=a.example",
    "--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the origin header, help: List of allowed origins for CORS, comma separated. An allowed origin can be a regular expression to support subdomain matching. If this list is empty CORS will not be enabled. Please ensure each expression matches the entire hostname by anchoring to the start with '^' or including the '//' prefix, and by anchoring to the end with '$' or including the ':' port separator suffix. Examples of valid expressions are '//example\\.com(:|$)' and '^https://example\\.com(:|$)'",
  ],
  [
    "--strict-transport-security-directives=foo",
    "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information",
  ],
  [
    "--strict-transport-security-directives=max-age=1,bar",
    "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information",
  ],
  ["--audit-log-format=xml --audit-log-path=-", 'invalid audit log format xml, allowed formats are "legacy,json"'],
  ["--audit-log-path=-", undefined],
  ["--anonymous-auth=maybe", 'invalid argument "maybe" for "--anonymous-auth" flag: strconv.ParseBool: parsing "maybe": invalid syntax'],
  ["--allow-privileged=maybe", 'invalid argument "maybe" for "--allow-privileged" flag: strconv.ParseBool: parsing "maybe": invalid syntax'],
  ["--delete-collection-workers=0", undefined],
  ["--watch-cache-sizes=pods", "invalid value of watch cache size: pods"],
  ["--watch-cache-sizes=pods#x", "invalid size of watch cache size: pods#x"],
  ["--api-audiences=", undefined],
  ["--service-account-max-token-expiration=1m", "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"],
  ["--v=x", 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
  ["--logging-format=xml", 'format: Invalid value: "xml": Unsupported log format'],
  ["--oidc-client-id=x", "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"],
  ["--oidc-issuer-url=http://a.example", "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"],
  ["--oidc-issuer-url=https://a.example", "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"],
  ["--advertise-address=x", 'invalid argument "x" for "--advertise-address" flag: failed to parse IP: "x"'],
  ["--apiserver-count=2", undefined],
  ["--insecure-port=8080", "unknown flag: --insecure-port"],
  ["--enable-aggregator-routing=maybe", 'invalid argument "maybe" for "--enable-aggregator-routing" flag: strconv.ParseBool: parsing "maybe": invalid syntax'],
  ["--admission-control=NodeRestriction", "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"],
  ["--enable-logs-handler=true", undefined],
  [
    "--show-hidden-metrics-for-version=1.20",
    "metrics.showHiddenMetricsForVersion: Invalid value: \"1.20\": must be omitted or have the value '1.36'; only the previous minor version is allowed",
  ],
  ["--etcd-compaction-interval=-1s", undefined],
  ["--requestheader-uid-headers=a b", "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work"],
  [
    "--endpoint-reconciler-type=lease --advertise-address=127.0.0.1",
    'cannot use public IP 127.0.0.1 with endpoint reconciler: <nil>: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ],
];

test("API server flags: what upstream refuses is refused in its words", () => {
  for (const [flags, fault] of rows) {
    let said: string | undefined;
    try {
      read(flags);
    } catch (error) {
      said = (error as Error).message;
    }
    equal(said, fault, flags);
  }
});

test("API server flags: what they set", () => {
  const { settings, runtimeConfig, gates, admission } = read(
    "--emulated-version=1.36 --runtime-config=api/all=true,apps/v1=false --runtime-config=batch/v1 --feature-gates=WatchList=false --service-node-port-range=20000+2 --request-timeout=1m30s --min-request-timeout=2 --default-not-ready-toleration-seconds=17 --event-ttl=5s",
  );
  deepEqual([settings.emulatedVersion, settings.minCompatibilityVersion], ["1.36", "1.35"]);
  deepEqual(runtimeConfig, { "api/all": true, "apps/v1": false, "batch/v1": true });
  deepEqual([gates["WatchList"], gates["HPAScaleToZero"]], [false, false]);
  deepEqual(settings.nodePortRange, { first: 20_000, last: 20_002 });
  deepEqual([settings.requestTimeoutMs, settings.minRequestTimeoutMs, settings.eventTtlSeconds], [90_000, 2000, 5]);
  deepEqual(admission.tolerationSeconds, { notReady: 17, unreachable: 300 });
});

function read(text: string) {
  const flags = new Map<string, string[]>([["enable-admission-plugins", ["NodeRestriction"]]]);
  for (const flag of text.replace(/^--/, "").split(" --")) {
    const equals = flag.indexOf("=");
    const name = flag.slice(0, equals);
    flags.set(name, [...(flags.get(name) ?? []), flag.slice(equals + 1)]);
  }
  return apiServerFlags(flags, { serviceCidrs: ["10.0.0.0/16"], components: new Set() });
}
