/**
 * The API server: `createApiServer` wires stages, handlers and caches to a store; `start` reads the store and runs the start-up steps;
 * `handle` answers requests. It does no network I/O itself: transports lead here (http/tls-listener.ts, or a component's loopback).
 */
import { defaultGates } from "../api/feature-gates.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { MetricRegistry } from "../base/metrics.ts";
import type { Random } from "../base/random.ts";
import { TaskGroup } from "../base/task-group.ts";
import type { ApiRequest, ApiResponse } from "../apimachinery/request.ts";
import type { Store } from "../storage/store.ts";
import { ApiServiceIndex } from "./aggregation/api-service-index.ts";
import { noExtensions } from "./aggregation/connector.ts";
import type { ExtensionConnector } from "./aggregation/connector.ts";
import { Publications } from "./aggregation/publications.ts";
import { admissionPlugins } from "./admission/plugins.ts";
import type { PluginChoice } from "./admission/plugins.ts";
import { AdmissionChain } from "./admission/chain.ts";
import { Auditor } from "./audit/auditor.ts";
import type { AuditOptions } from "./audit/auditor.ts";
import { firstOf, loopbackAuthenticator } from "./authn/authenticator.ts";
import type { Authenticator } from "./authn/authenticator.ts";
import { CertificateTrust } from "./authn/certificate-trust.ts";
import { clientCertificates } from "./authn/client-certificates.ts";
import { tokenUseNotes } from "./authn/legacy-token-use.ts";
import { ConfiguredTokens, anonymousChoice } from "./authn/configured.ts";
import type { AuthenticationOptions } from "./authn/configured.ts";
import { requestHeaders } from "./authn/request-headers.ts";
import type { RequestHeaderNames } from "./authn/request-headers.ts";
import { TokenSigner } from "./authn/service-account-tokens.ts";
import type { ObjectFinder } from "./authn/service-account-tokens.ts";
import { escalationCheck } from "./authz/escalation.ts";
import { ReplaceableAuthorizers, defaultAuthorization } from "./authz/modes.ts";
import type { AuthorizationChoice } from "./authz/modes.ts";
import { nodeAuthorizer } from "./authz/node-authorizer.ts";
import { NodeGraph } from "./authz/node-graph.ts";
import { RbacAuthorizer } from "./authz/rbac.ts";
import { bootstrapSteps } from "./bootstrap/steps.ts";
import { compactHistory } from "./cache/compactor.ts";
import { Cacher } from "./cache/cacher.ts";
import { normalizeStored } from "./cache/normalize.ts";
import { createEndpoint } from "./endpoint.ts";
import { FlowControl } from "./flowcontrol/flow-control.ts";
import { InFlight } from "./flowcontrol/in-flight.ts";
import { WatchCounts } from "./flowcontrol/watch-counts.ts";
import { handleRequest } from "./pipeline.ts";
import type { Endpoint } from "./pipeline.ts";
import { publishAuthenticationConfig } from "./bootstrap/authentication-config.ts";
import { Reloads } from "./reloads.ts";
import { RequestMetrics } from "./metrics/request-metrics.ts";
import { Bookmarks } from "./handlers/watching/bookmarks.ts";
import { Descriptions } from "./openapi/descriptions.ts";
import { builtInDefinitions } from "./registry/built-in.ts";
import { Encodings } from "./registry/versions/encodings.ts";
import { ResourceTable } from "./registry/resource-table.ts";
import { findObject } from "./registry/rule-context.ts";
import type { ServerSettings, ServerState } from "./server-state.ts";
import { ServiceAllocator } from "./services/allocator.ts";
import type { NodeConnector } from "./streaming/node-connector.ts";
import { noWebhooks } from "./webhooks/webhook-connector.ts";
import type { WebhookConnector } from "./webhooks/webhook-connector.ts";

export interface ApiServerOptions extends AuthenticationOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly store: Store;
  readonly settings: ServerSettings;
  /** PEM certificates that client certificates are checked against. */
  readonly clientAuthorities: readonly string[];
  /** PEM of the key that signs service account tokens. */
  readonly serviceAccountKey: string;
  /** PEM of further keys or certificates that these tokens are checked with. */
  readonly serviceAccountVerificationKeys?: readonly string[];
  readonly nodes: NodeConnector;
  /** Why a key management plugin is not well. Default: there are none. */
  readonly kmsFault?: () => string | undefined;
  /** Of the process's log. Default: it stays as it is. */
  readonly setVerbosity?: (level: number) => void;
  /** Default: no webhook can be reached. */
  readonly webhooks?: WebhookConnector;
  /** Default: no extension API server can be reached. */
  readonly extensions?: ExtensionConnector;
  /** The state of every feature gate; default: as the current release has them. */
  readonly gates?: Readonly<Record<string, boolean>>;
  /** What `--runtime-config` turns on and off: `group/version`, `api/all`, `api/beta`, … */
  readonly runtimeConfig?: Readonly<Record<string, boolean>>;
  readonly admission: PluginChoice;
  /** Default: Node, then RBAC. */
  readonly authorization?: AuthorizationChoice;
  /** Front proxies, who name the user in headers. Default: none. */
  readonly proxies?: { readonly authorities: readonly string[]; readonly names: RequestHeaderNames };
  /** Default: nothing is audited. */
  readonly audit?: (metrics: MetricRegistry) => AuditOptions;
  readonly extraAuthenticators?: readonly Authenticator[];
}

export class ApiServer {
  readonly #state: ServerState & { isShuttingDown: boolean };
  readonly #endpoint: Endpoint;
  readonly #tasks: TaskGroup;
  readonly #finishedHooks = new Set<string>();
  readonly #shutdown = new AbortController();
  /** Requests that have no answer yet. */
  #active = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: ApiServerOptions) {
    this.#tasks = new TaskGroup({ onFailure: (name, error) => options.log.error("API server task failed", { name, error }) });
    this.#state = buildState(options, { tasks: this.#tasks, finishedHooks: this.#finishedHooks, shutdown: this.#shutdown.signal });
    this.#endpoint = createEndpoint(this.#state);
  }

  /** Settings, caches and resources, for what is built onto the server. */
  get state(): ServerState {
    return this.#state;
  }

  /** Replaces parts of the configuration while the server runs. */
  get reloads(): Reloads {
    return this.#state.reloads;
  }

  /** Reads the store, then runs the start-up steps. Resolves when the server is ready. */
  async start(): Promise<void> {
    await this.#state.cacher.start(this.#tasks.signal, (task) => this.#tasks.start("follow store", task));
    const { store, settings, clock, log } = this.#state;
    if (settings.compactionIntervalMs > 0)
      this.#tasks.start("compact store", (signal) => compactHistory(store, settings.compactionIntervalMs, { clock, log, signal }));
    for (const step of bootstrapSteps) {
      await step.run(this.#state);
      this.#finishedHooks.add(step.name);
    }
  }

  /** Answers one request; never rejects. */
  readonly handle = async (request: ApiRequest): Promise<ApiResponse> => {
    if (this.#state.isShuttingDown && !isHealthPath(request.path)) return shuttingDown();
    this.#active++;
    try {
      return await handleRequest(this.#state, request, this.#endpoint);
    } finally {
      this.#active--;
      if (this.#active === 0) this.#onIdle?.();
    }
  };

  /**
   * Takes no further requests, lets those under way be answered, ends watches and background work. The store stays open: who opened it closes
   * it. What was answered is in the audit.
   */
  async close(): Promise<void> {
    this.#state.isShuttingDown = true;
    this.#shutdown.abort(new DOMException("the server is shutting down", "AbortError"));
    await this.#answered();
    await this.#tasks.close();
    // What waited for the store to be followed has failed: that is told, too.
    await this.#answered();
    this.#state.flowControl?.close();
    await this.#state.audit?.close();
  }

  /** Resolves when nothing is under way, or has not come to an end for a while. */
  async #answered(): Promise<void> {
    if (this.#active === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const cancel = this.#state.clock.after(drainMs, resolve);
    await promise;
    cancel();
  }
}

const drainMs = 1000;

function isHealthPath(path: string): boolean {
  return /^\/(healthz|livez|readyz)(\/|$)/.test(path);
}

function shuttingDown(): ApiResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "retry-after": "5" };
  return { status: 429, headers, body: { kind: "bytes", bytes: Buffer.from("The apiserver is shutting down, please try again later.\n") } };
}

/** Where everybody may do everything, strangers may do nothing: upstream resets `--anonymous-auth` so. */
function allowsEverything(authorization: AuthorizationChoice | undefined): boolean {
  return authorization?.authorizers.some(({ type }) => type === "AlwaysAllow") === true;
}

function buildState(options: ApiServerOptions, own: Pick<ServerState, "tasks" | "finishedHooks" | "shutdown">): ServerState & { isShuttingDown: boolean } {
  const { clock, random, log, store, settings } = options;
  const cacher = new Cacher({ store, clock, log, root: settings.storageRoot, parsedLimit: 20_000, windowLimit: 10_000, normalize: normalizeStored });
  const resources = new ResourceTable();
  const gates = options.gates ?? defaultGates;
  const versionChoice = {
    runtimeConfig: options.runtimeConfig ?? {},
    emulatedVersion: settings.emulatedVersion,
    isEnabled: (gate: string) => gates[gate] ?? false,
  };
  for (const definition of builtInDefinitions({
    cacher,
    storageRoot: settings.storageRoot,
    eventTtlSeconds: settings.eventTtlSeconds,
    versions: versionChoice,
  }))
    resources.add(definition);
  const cacheOf = (group: string, resource: string) => resources.preferred(group, resource)!.storage!.cache;
  const flowGroup = "flowcontrol.apiserver.k8s.io";
  const rbacGroup = "rbac.authorization.k8s.io";
  const rbac = new RbacAuthorizer({
    roles: cacheOf(rbacGroup, "roles"),
    roleBindings: cacheOf(rbacGroup, "rolebindings"),
    clusterRoles: cacheOf(rbacGroup, "clusterroles"),
    clusterRoleBindings: cacheOf(rbacGroup, "clusterrolebindings"),
  });
  const graph = new NodeGraph({ pods: cacheOf("", "pods"), persistentVolumes: cacheOf("", "persistentvolumes") });
  const tokenKeys = { signingKey: options.serviceAccountKey, verificationKeys: options.serviceAccountVerificationKeys ?? [] };
  const tokens = new TokenSigner({ ...tokenKeys, issuer: settings.serviceAccountIssuer, audiences: settings.apiAudiences }, clock, random);
  const metrics = new MetricRegistry();
  const watchCounts = new WatchCounts();
  const find: ObjectFinder = (resource, namespace, name) => findObject(state, resource, namespace, name);
  const configuredTokens = new ConfiguredTokens(options, {
    clock,
    log,
    tasks: own.tasks,
    apiAudiences: settings.apiAudiences,
    signer: tokens,
    find,
    noteUse: tokenUseNotes(() => state, own.tasks),
  });
  const clientTrust = new CertificateTrust(options.clientAuthorities);
  const { proxies } = options;
  const proxyTrust = new CertificateTrust(proxies?.authorities ?? []);
  const authorizers = new ReplaceableAuthorizers(options.authorization ?? defaultAuthorization, { node: nodeAuthorizer(graph, find), rbac, clock });
  const reloads = new Reloads(
    { clientTrust, proxyTrust, tokens: configuredTokens, authorizers },
    {
      clock,
      log,
      metrics,
      serverId: `${settings.advertiseAddress}:${settings.securePort}`,
      onPublished: () => own.tasks.start("publish authorities", () => publishAuthenticationConfig(state)),
    },
  );
  const state: ServerState & { isShuttingDown: boolean } = {
    clock,
    random,
    log,
    store,
    cacher,
    resources,
    settings,
    descriptions: new Descriptions(),
    metrics,
    encodings: new Encodings(metrics),
    requestMetrics: new RequestMetrics(metrics),
    tokens,
    ...own,
    isShuttingDown: false,
    anonymous: anonymousChoice(options, settings.anonymousAuth && !allowsEverything(options.authorization)),
    bearerTokens: configuredTokens.bearerTokens,
    authenticator: firstOf([
      loopbackAuthenticator,
      ...(proxies === undefined ? [] : [requestHeaders(proxyTrust, proxies.names, clock)]),
      clientCertificates(clientTrust, clock),
      configuredTokens.bearerTokens,
      ...(options.extraAuthenticators ?? []),
    ]),
    authorizer: authorizers.authorizer,
    ruleSource: authorizers.ruleSource,
    admission: new AdmissionChain([...admissionPlugins(options.admission), escalationCheck(rbac)]),
    flowControl: settings.hasPriorityAndFairness
      ? new FlowControl({
          clock,
          metrics,
          watches: watchCounts,
          serverSeats: settings.maxRequestsInFlight + settings.maxMutatingRequestsInFlight,
          schemas: cacheOf(flowGroup, "flowschemas"),
          levels: cacheOf(flowGroup, "prioritylevelconfigurations"),
        })
      : undefined,
    inFlight: new InFlight(
      { readOnly: settings.maxRequestsInFlight, mutating: settings.maxMutatingRequestsInFlight },
      { clock, metrics, isLimiting: !settings.hasPriorityAndFairness },
    ),
    watchCounts,
    bookmarks: new Bookmarks(clock),
    reloads,
    audit: options.audit && new Auditor(options.audit(metrics), metrics),
    allocator: new ServiceAllocator({
      cache: () => cacheOf("", "services"),
      addresses: () => cacheOf("networking.k8s.io", "ipaddresses"),
      serviceCidrs: () => cacheOf("networking.k8s.io", "servicecidrs"),
      random,
      ranges: settings.serviceCidrs,
      nodePorts: settings.nodePortRange,
    }),
    nodes: options.nodes,
    webhooks: options.webhooks ?? noWebhooks,
    extensions: options.extensions ?? noExtensions,
    apiServices: new ApiServiceIndex(cacheOf("apiregistration.k8s.io", "apiservices")),
    get publications() {
      return publications;
    },
    isEnabled: versionChoice.isEnabled,
    kmsFault: options.kmsFault,
    setVerbosity: options.setVerbosity ?? (() => {}),
  };
  const publications = new Publications(state);
  return state;
}
