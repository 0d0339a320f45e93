/** The own server of a component that has one: health, metrics and what it decided, over TLS. */
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import { CertificateTrust, certificatesOf } from "../../apiserver/authn/certificate-trust.ts";
import { Client } from "../../client/index.ts";
import { followAuthority } from "../certificates/authority-following.ts";
import { UsageError } from "../commands/arguments.ts";
import { delegatedAccess } from "./apiserver/delegated-access.ts";
import { servingByFlags } from "./serving-flags.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../apimachinery/request.ts";
import type { ComponentContext } from "./start-components.ts";

export interface ServedComponent {
  /** As its flags and its certificate name it. */
  readonly component: "controllers" | "scheduler";
  readonly userAgent: string;
  /** Where Kubernetes has it. */
  readonly usualPort: number;
  /** Asks the API server who may see what. */
  readonly transport: Transport;
  readonly handler: (request: ApiRequest) => Promise<ApiResponse>;
}

/** Listens where `--secure-port` says: a process of its own at Kubernetes' port, and beside other components only when asked to. */
export async function serveComponent(
  { component, userAgent, usualPort, transport, handler }: ServedComponent,
  { environment, options, certificates }: ComponentContext,
): Promise<AsyncDisposable> {
  const running = new AsyncDisposableStack();
  const { clock, log } = environment;
  const asked = options.flags.get(component)?.get("secure-port")?.at(-1);
  if (asked !== undefined && !/^\d{1,5}$/.test(asked)) throw new UsageError(`--${component}.secure-port wants a port number; not ${JSON.stringify(asked)}`);
  const port = asked === undefined ? (options.components.size === 1 ? usualPort : 0) : Number(asked);
  if (port === 0) return running;
  const client = new Client({ transport, clock, userAgent });
  const authority = await certificates.authority();
  const trust = new CertificateTrust(certificatesOf(authority));
  const guarded = delegatedAccess(handler, { client, trust, nowMs: () => clock.nowMs() });
  const flags = options.flags.get(component) ?? new Map<string, readonly string[]>();
  const serving = await servingByFlags(component, flags, () => certificates.serving(component, ["localhost", "127.0.0.1"]));
  try {
    const listener = await listenTls({ address: options.bindAddress, port, ...serving.listening, handler: guarded, log, maxBodyBytes: 1 << 20 });
    running.defer(() => listener.close());
    running.use(await serving.follow(() => [listener], environment));
    const onNew = (bundle: string) => trust.replace(certificatesOf(bundle));
    running.use(followAuthority({ clock, log, name: component, current: authority, source: () => certificates.authority(), onNew }));
  } catch (error) {
    if (asked !== undefined || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    log.warn("A component's usual port is taken; it is not served", { component, port });
  }
  return running;
}
