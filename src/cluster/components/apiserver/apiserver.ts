/** The API server as a component: store, certificates, TLS listener. */
import { ApiServer } from "../../../apiserver/server.ts";
import { listenTls } from "../../../apimachinery/listener/tls-listener.ts";
import type { RequestHandler, TlsListener, TlsListenerOptions } from "../../../apimachinery/listener/tls-listener.ts";
import { gatewayAddress } from "../../../network/index.ts";
import { serviceLoopbackAddress } from "../../../proxy/index.ts";
import { readAuditFlags } from "../../audit/audit-options.ts";
import { auditOptions } from "../../audit/audit-sinks.ts";
import type { AuthoritySource } from "../../certificates/authority-following.ts";
import type { Certificates } from "../../certificates/certificates.ts";
import type { Environment } from "../../environment.ts";
import { firstHostAddress } from "../../connections/host-address.ts";
import { ExtensionConnections } from "../../connections/extension-connections.ts";
import { NodeDialer } from "../../connections/node-dialer.ts";
import { WebhookConnections } from "../../connections/webhook-connections.ts";
import type { UpOptions } from "../../commands/up-options.ts";
import { EncryptionAtRest } from "../../encryption/encryption-at-rest.ts";
import { instanceId } from "../../instance-id.ts";
import { readApiServerFiles } from "./apiserver-files.ts";
import { apiServerFlags } from "./apiserver-flags/apiserver-flags.ts";
import { apiServerKeys } from "./apiserver-keys.ts";
import { followFiles } from "./apiserver-reloads.ts";
import { openConfiguredStore } from "./configured-store.ts";
import { followServingFiles, namedCertificates } from "./serving-files.ts";
import { tlsProtocol } from "./apiserver-flags/tls-flags.ts";
import { frontProxies, proxyClient } from "./front-proxies.ts";
import { readDocument } from "../../files/read-document.ts";
import { followPair } from "../../certificates/renewal.ts";

export interface RunningApiServer extends AsyncDisposable {
  readonly server: ApiServer;
  readonly port: number;
  readonly url: string;
  /** Gives the PEM of what clients trust: the authorities of our serving certificate, or the certificate that was given. */
  readonly authority: AuthoritySource;
}

/** Bodies beyond this are refused with 413 (documentation: "3 MiB"). */
const maxBodyBytes = 3 * 1024 * 1024;

/** Starts the API server; resolves when it is ready. A failure leaves nothing half-made. */
export async function startApiServer(environment: Environment, options: UpOptions, certificates: Certificates): Promise<RunningApiServer> {
  const given = options.flags.get("apiserver") ?? new Map<string, readonly string[]>();
  const flags = apiServerFlags(given, options);
  const { admissionConfigurations, ...files } = await readApiServerFiles(given);
  const frontProxy = await frontProxies(given, certificates);
  const audit = await auditOptions(readAuditFlags(given), environment);
  const running = new AsyncDisposableStack();
  try {
    const plainStore = running.adopt(await openConfiguredStore(environment, options), (opened) => opened.close());
    const encryption = flags.encryption && running.use(await EncryptionAtRest.open(plainStore, flags.encryption, environment));
    const advertiseAddress = flags.advertiseAddress ?? firstHostAddress();
    const { serving, servingSource, authority, clientAuthority, ...keys } = await apiServerKeys(given, certificates, [
      advertiseAddress,
      flags.serviceAddress,
      ...[serviceLoopbackAddress(flags.serviceAddress, instanceId(options.dataDir))].filter((address) => address !== undefined),
      gatewayAddress(options.nodeCidr).address,
    ]);
    // The port must be known before the server publishes it, and the server must exist before the listener can answer.
    const ready: { server?: ApiServer } = {};
    const handler: RequestHandler = async (request) => (ready.server === undefined ? starting() : ready.server.handle(request));
    const listener = running.adopt(
      await listen(environment, options, { ...serving, handler, protocol: tlsProtocol(given), named: await namedCertificates(given) }),
      (opened) => opened.close(),
    );
    const kubeletClient = () => certificates.client("apiserver-kubelet-client", "kube-apiserver-kubelet-client", ["system:masters"]);
    const aggregatorClient = () => proxyClient(given, certificates);
    const dialer = running.adopt(new NodeDialer(await kubeletClient(), await certificates.authority(), environment.clock), (opened) => opened.close());
    const extensions = running.adopt(new ExtensionConnections(await aggregatorClient()), (opened) => opened.close());
    running.use(await followServingFiles(given, listener, environment.log));
    running.use(followPair({ ...environment, name: "apiserver", current: serving, source: servingSource, onNew: listener.setCertificate }));
    running.use(
      followPair({
        ...environment,
        name: "apiserver-kubelet-client",
        current: await kubeletClient(),
        source: kubeletClient,
        onNew: (pair) => dialer.renew(pair),
      }),
    );
    running.use(
      followPair({
        ...environment,
        name: "front-proxy-client",
        current: await aggregatorClient(),
        source: aggregatorClient,
        onNew: (pair) => extensions.renew(pair),
      }),
    );
    const webhooks = running.adopt(new WebhookConnections(), (opened) => opened.close());
    const { clock, random, log } = environment;
    const server = running.adopt(
      new ApiServer({
        clock,
        random,
        log,
        store: encryption?.store ?? plainStore,
        ...(encryption?.hasPlugins === true && { kmsFault: () => encryption.fault }),
        settings: {
          ...flags.settings,
          advertiseAddress,
          securePort: listener.port,
          clientAuthority,
          maxBodyBytes,
          proxyConfiguration: frontProxy.proxyConfiguration,
          // (A machine without a network has no address that pods could use.)
          publishesEndpoints: flags.settings.publishesEndpoints && !advertiseAddress.startsWith("127."),
        },
        proxies: frontProxy.proxies,
        ...keys,
        nodes: dialer,
        webhooks,
        extensions,
        gates: flags.gates,
        runtimeConfig: flags.runtimeConfig,
        setVerbosity: environment.setVerbosity,
        admission: { ...flags.admission, configurations: admissionConfigurations },
        allowsBootstrapTokens: flags.allowsBootstrapTokens,
        ...files,
        ...(audit !== undefined && { audit }),
        readDocument,
      }),
      (opened) => opened.close(),
    );
    await server.start();
    running.use(
      await followFiles(given, server.reloads, {
        clock,
        log,
        ownAuthority: () => certificates.authority(),
        onOwnAuthority: (bundle) => dialer.trust(bundle),
        proxyAuthority: () => certificates.frontProxy().authority(),
      }),
    );
    ready.server = server;
    return { server, port: listener.port, url: `https://127.0.0.1:${listener.port}`, authority, [Symbol.asyncDispose]: () => running.disposeAsync() };
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

async function listen(
  { log }: Environment,
  { bindAddress, port }: UpOptions,
  serving: Pick<TlsListenerOptions, "key" | "certificate" | "handler" | "protocol" | "named">,
): Promise<TlsListener> {
  try {
    return await listenTls({ address: bindAddress, port, log, maxBodyBytes, ...serving });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw new Error(`port ${port} is taken: stop what listens there, or choose another with --port`, { cause: error });
    if (code === "EACCES") throw new Error(`port ${port} is not allowed for this user: choose one above 1023 with --port`, { cause: error });
    throw error;
  }
}

/** Until the server has read its store every path answers so. */
function starting() {
  return {
    status: 503,
    headers: { "content-type": "text/plain; charset=utf-8", "retry-after": "1" },
    body: { kind: "bytes", bytes: Buffer.from("the server is starting\n") },
  } as const;
}
