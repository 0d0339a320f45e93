/** What every stage and handler of the API server may use: made once by `createApiServer`, never reassigned. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { MetricRegistry } from "../base/metrics.ts";
import type { Random } from "../base/random.ts";
import type { TaskGroup } from "../base/task-group.ts";
import type { RuleSettings } from "../api/strategy.ts";
import type { Store } from "../storage/store.ts";
import type { ApiServiceIndex } from "./aggregation/api-service-index.ts";
import type { ExtensionConnector } from "./aggregation/connector.ts";
import type { Publications } from "./aggregation/publications.ts";
import type { AdmissionChain } from "./admission/chain.ts";
import type { AnonymousChoice } from "./authn/anonymous.ts";
import type { Auditor } from "./audit/auditor.ts";
import type { Authenticator } from "./authn/authenticator.ts";
import type { BearerTokens } from "./authn/bearer-tokens.ts";
import type { TokenSigner } from "./authn/service-account-tokens.ts";
import type { Authorizer } from "./authz/authorizer.ts";
import type { Cacher } from "./cache/cacher.ts";
import type { RequestMetrics } from "./metrics/request-metrics.ts";
import type { FlowControl } from "./flowcontrol/flow-control.ts";
import type { InFlight } from "./flowcontrol/in-flight.ts";
import type { WatchCounts } from "./flowcontrol/watch-counts.ts";
import type { Bookmarks } from "./handlers/watching/bookmarks.ts";
import type { Descriptions } from "./openapi/descriptions.ts";
import type { Encodings } from "./registry/versions/encodings.ts";
import type { ResourceTable } from "./registry/resource-table.ts";
import type { Reloads } from "./reloads.ts";
import type { RuleSource } from "./reviews/rules-review.ts";
import type { ServiceAllocator } from "./services/allocator.ts";
import type { NodeConnector } from "./streaming/node-connector.ts";
import type { WebhookConnector } from "./webhooks/webhook-connector.ts";

export interface ServerState {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly store: Store;
  readonly cacher: Cacher;
  readonly resources: ResourceTable;
  readonly authenticator: Authenticator;
  readonly anonymous: AnonymousChoice;
  /** Answers token reviews. */
  readonly bearerTokens: BearerTokens;
  readonly authorizer: Authorizer;
  /** What SelfSubjectRulesReview lists. */
  readonly ruleSource: RuleSource;
  readonly admission: AdmissionChain;
  /** Absent when priority and fairness is off. */
  readonly flowControl: FlowControl | undefined;
  readonly inFlight: InFlight;
  /** Absent when nothing is audited. */
  readonly audit: Auditor | undefined;
  readonly watchCounts: WatchCounts;
  readonly bookmarks: Bookmarks;
  readonly reloads: Reloads;
  readonly tokens: TokenSigner;
  readonly allocator: ServiceAllocator;
  readonly nodes: NodeConnector;
  readonly webhooks: WebhookConnector;
  readonly extensions: ExtensionConnector;
  /** Who serves which group-version. */
  readonly apiServices: ApiServiceIndex;
  readonly publications: Publications;
  readonly settings: ServerSettings;
  /** Texts of types and fields. */
  readonly descriptions: Descriptions;
  readonly metrics: MetricRegistry;
  readonly encodings: Encodings;
  readonly requestMetrics: RequestMetrics;
  /** Background work of the server. */
  readonly tasks: TaskGroup;
  isEnabled(gate: string): boolean;
  /** Why a key management plugin is not well; absent when there are none. */
  readonly kmsFault: (() => string | undefined) | undefined;
  /** How much the process logs from now on: 0 what one wants to know, more for debugging. */
  setVerbosity(level: number): void;
  /** Names of start-up steps that have finished: what /readyz lists as post-start hooks. */
  readonly finishedHooks: ReadonlySet<string>;
  /** Aborts when `close` is called: long-running answers end. */
  readonly shutdown: AbortSignal;
  /** True once `close` was called: /readyz fails, new watches end. */
  readonly isShuttingDown: boolean;
}

export interface ServerSettings extends RuleSettings {
  /** Root of all storage keys, with a final slash. */
  readonly storageRoot: string;
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutMs: number;
  readonly eventTtlSeconds: number;
  /** How often the store's history is cut; 0: only where the store bounds it. */
  readonly compactionIntervalMs: number;
  readonly anonymousAuth: boolean;
  readonly hasPriorityAndFairness: boolean;
  /** Reads answered at a time; 0: no limit. With priority and fairness the two are one number of seats. */
  readonly maxRequestsInFlight: number;
  readonly maxMutatingRequestsInFlight: number;
  /** The release that the server passes for, such as `1.36`, and the oldest one that it can work beside. */
  readonly emulatedVersion: string;
  readonly minCompatibilityVersion: string;
  /** False: nobody carries out propagation policies, so deletions do not wait for it. */
  readonly hasGarbageCollector: boolean;
  readonly hasWatchCache: boolean;
  readonly hasProfiling: boolean;
  /** Host name under which clients reach the server; empty: `advertiseAddress`. */
  readonly externalHostname: string;
  /** Regular expressions of origins. */
  readonly corsAllowedOrigins: readonly string[];
  /** Directives of the header `Strict-Transport-Security`. */
  readonly strictTransportSecurity: readonly string[];
  /** Node port of the Service `kubernetes`; 0: it has none. */
  readonly kubernetesServiceNodePort: number;
  /** Whether the server keeps its own address among the endpoints of the Service `kubernetes`. */
  readonly publishesEndpoints: boolean;
  readonly serviceAccountIssuer: string;
  readonly apiAudiences: readonly string[];
  /** Address under which clients reach the server, for the `kubernetes` Service. */
  readonly advertiseAddress: string;
  readonly securePort: number;
  /** PEM of the authority of client certificates. */
  readonly clientAuthority: string;
  /** What aggregated servers are told of front proxies, by key of the ConfigMap. */
  readonly proxyConfiguration?: Readonly<Record<string, string>>;
}
