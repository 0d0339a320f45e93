/** Webhooks over HTTPS, with the certificate managed: the `serveWebhooks` of operators that run as programs. */
import type { Clock } from "../../base/clock.ts";
import { sleep } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/index.ts";
import { issueCertificate, sharedCertificate } from "../webhooks/certificates.ts";
import type { ServingCertificate } from "../webhooks/certificates.ts";
import type { ClientConfigOf } from "../webhooks/configurations.ts";
import { listenForReviews } from "../webhooks/tls-server.ts";
import type { ServeWebhooks } from "./run-in.ts";

export interface WebhookPlace {
  readonly clock: Clock;
  readonly random: Random;
  readonly port: number;
  /**
   * - service: the API server comes through a Service of the operator's name; the certificate is in a Secret that all replicas share
   * - host: it calls this host directly, for operators that run outside the cluster; the certificate lives as long as the process
   */
  readonly reach:
    | { readonly kind: "service"; readonly client: Client; readonly namespace: string; readonly name: string }
    | { readonly kind: "host"; readonly host: string };
}

export function webhooksAt(place: WebhookPlace): ServeWebhooks {
  return async (answer, onAddress, signal) => {
    let certificate = await certificateFor(place, signal);
    const server = await listenForReviews({ port: place.port, ...certificate }, answer);
    try {
      await onAddress(addressOf(place, server.port, certificate));
      for (;;) {
        await sleep(place.clock, Math.max(minPauseMs, Math.min(certificate.renewMs - place.clock.nowMs(), maxPauseMs)), signal);
        const latest = await certificateFor(place, signal, certificate);
        if (latest.certificate === certificate.certificate) continue;
        certificate = latest;
        server.renew(certificate);
        await onAddress(addressOf(place, server.port, certificate));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await server.close();
    }
  };
}

/** Replicas look now and then, since another one may have made a new certificate. */
const maxPauseMs = 6 * 3_600_000;
const minPauseMs = 60_000;

async function certificateFor({ clock, random, reach }: WebhookPlace, signal: AbortSignal, current?: ServingCertificate): Promise<ServingCertificate> {
  if (reach.kind === "host")
    return current !== undefined && current.renewMs > clock.nowMs() ? current : issueCertificate({ clock, random, hosts: [reach.host] });
  const { client, name, namespace } = reach;
  const hosts = [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
  return sharedCertificate(client, { namespace, name: `${name}-webhooks` }, { clock, random, hosts }, signal);
}

function addressOf({ reach }: WebhookPlace, port: number, { authority }: ServingCertificate): ClientConfigOf {
  const caBundle = Buffer.from(authority).toString("base64");
  if (reach.kind === "host") return (path) => ({ url: `https://${reach.host.includes(":") ? `[${reach.host}]` : reach.host}:${port}${path}`, caBundle });
  const { name, namespace } = reach;
  return (path) => ({ service: { name, namespace, path, port: 443 }, caBundle });
}
