/**
 * The three certificates of a node that joined from another machine: the kubelet's as a client, the kubelet's for serving, the proxy's. The
 * first is asked for with a bootstrap token, all others, and every successor, as the node itself. The old ones stay until the new are there.
 */
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Transport } from "../../apimachinery/request.ts";
import { Client } from "../../client/index.ts";
import { proxyUser, requestCertificate } from "../../joining/index.ts";
import { lifeOf } from "../certificates/certificate-life.ts";
import { clientName } from "../certificates/certificates.ts";
import { firstHostAddress } from "../connections/host-address.ts";
import { readPair, writePair } from "../certificates/key-store.ts";
import type { KeyAndCertificate, KeyStore } from "../certificates/key-store.ts";
import { refreshAuthority } from "./joined-authority.ts";

export interface NodeCertificate {
  /** Its files, without their endings. */
  readonly file: string;
  readonly wish: Parameters<typeof requestCertificate>[1];
}

/** In the order in which they are asked for: the first one is the identity that the others are asked for with. */
export function nodeCertificates(name: string, address = firstHostAddress()): readonly [NodeCertificate, ...NodeCertificate[]] {
  const own = { commonName: `system:node:${name}`, organizations: ["system:nodes"] };
  return [
    { file: clientName(own.commonName), wish: { ...own, hosts: [], signerName: "kubernetes.io/kube-apiserver-client-kubelet", isServer: false } },
    { file: "kubelet", wish: { ...own, hosts: [name, address], signerName: "kubernetes.io/kubelet-serving", isServer: true } },
    {
      file: clientName(proxyUser),
      wish: { commonName: proxyUser, organizations: [], hosts: [], signerName: "kubernetes.io/kube-apiserver-client", isServer: false },
    },
  ];
}

export interface NodeCertificateOptions {
  readonly store: KeyStore;
  readonly clock: Clock;
  /** Who asks. */
  readonly transport: Transport;
}

/** Asks for one and keeps it. Rejects with JoinError when it is not signed. */
export async function obtain({ file, wish }: NodeCertificate, { store, clock, transport }: NodeCertificateOptions): Promise<KeyAndCertificate> {
  const pair = await requestCertificate(new Client({ transport, clock, userAgent: "coracle" }), wish, { clock });
  await writePair(store, file, pair);
  return pair;
}

/** A refusal may be somebody's answer later on. */
const retryMs = 10 * 60_000;
const longestWaitMs = 12 * 3_600_000;

/** Renews each when 80 % of its life are over, and keeps the authorities that the cluster tells, until `signal` aborts. What fails is told and tried again. */
export async function renewNodeCertificates(
  certificates: readonly NodeCertificate[],
  options: NodeCertificateOptions & { readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log } = options;
  for (;;) {
    let waitMs = longestWaitMs;
    const client = new Client({ transport: options.transport, clock, userAgent: "coracle" });
    await refreshAuthority(client, store).catch((error: unknown) => log.warn("Could not ask for the cluster's authorities", { error }));
    signal.throwIfAborted();
    for (const certificate of certificates) {
      const { file } = certificate;
      const due = async () => lifeOf((await readPair(store, file))?.certificate ?? "").dueMs;
      try {
        if (clock.nowMs() >= (await due())) {
          await obtain(certificate, options);
          log.info("Renewed a certificate", { name: file });
        }
        waitMs = Math.min(waitMs, (await due()) - clock.nowMs());
      } catch (error) {
        signal.throwIfAborted();
        log.warn("Could not renew a certificate", { name: file, error });
        waitMs = Math.min(waitMs, retryMs);
      }
    }
    await sleep(clock, waitMs, signal);
  }
}
