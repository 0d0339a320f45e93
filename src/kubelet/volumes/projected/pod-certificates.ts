/**
 * Certificates of pods' own (KEP 4317): for each source a key is made here and a PodCertificateRequest with it; some signer answers. Driven
 * by the volumes that need them, which come again while a request is open and when the signer says that renewal may begin. Keys are held in
 * memory and in the pod's files only: a kubelet started anew asks anew.
 */
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import { isNotFound } from "../../../apimachinery/status.ts";
import { parseTime } from "../../../apimachinery/time.ts";
import type { PodCertificateRequest } from "../../../api/certificates-v1/types.ts";
import type { Pod, PodCertificateProjection } from "../../../api/core-v1/types.ts";
import { deadline } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import { resources } from "../../../client/index.ts";
import type { Client, InformerSet } from "../../../client/index.ts";
import type { OwnNode } from "../../node/own-node.ts";
import { VolumeError } from "../volume.ts";

export interface PodCertificate {
  /** PEM. */
  readonly key: string;
  /** PEM, the pod's own first. */
  readonly chain: string;
  readonly refreshAtMs: number;
}

interface Entry {
  readonly podUid: string;
  pending?: { readonly name: string; readonly key: string };
  current?: PodCertificate & { readonly notAfterMs: number };
}

export interface PodCertificatesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly informers: InformerSet;
  readonly nodeName: string;
  readonly ownNode: OwnNode;
}

export class PodCertificates {
  readonly #options: PodCertificatesOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: PodCertificatesOptions) {
    this.#options = options;
  }

  /** `place` tells one source of the pod from another. Throws a `VolumeError` while there is no certificate. */
  async get(pod: DeepReadonly<Pod>, place: string, source: DeepReadonly<PodCertificateProjection>, signal: AbortSignal): Promise<PodCertificate> {
    const podUid = pod.metadata.uid ?? "";
    const id = `${podUid} ${place}`;
    const entry: Entry = this.#entries.get(id) ?? { podUid };
    this.#entries.set(id, entry);
    const nowMs = this.#options.clock.nowMs();
    if (entry.current !== undefined && nowMs < entry.current.refreshAtMs) return entry.current;
    try {
      entry.current = await this.#renew(pod, entry, source, signal);
    } catch (error) {
      signal.throwIfAborted();
      // As long as the old one is good, renewal can wait.
      if (entry.current === undefined || this.#options.clock.nowMs() >= entry.current.notAfterMs) throw error;
      entry.current = { ...entry.current, refreshAtMs: this.#options.clock.nowMs() + retryMs };
    }
    return entry.current;
  }

  forget(podUid: string): void {
    for (const [id, entry] of this.#entries) if (entry.podUid === podUid) this.#entries.delete(id);
  }

  async #renew(
    pod: DeepReadonly<Pod>,
    entry: Entry,
    source: DeepReadonly<PodCertificateProjection>,
    signal: AbortSignal,
  ): Promise<NonNullable<Entry["current"]>> {
    const namespace = pod.metadata.namespace ?? "";
    const pending = (entry.pending ??= await this.#ask(pod, source, signal));
    const { status = {} } = await this.#answered(namespace, pending.name, signal).catch((error: unknown) => {
      // Somebody has deleted it: the next try asks again.
      if (isNotFound(error)) delete entry.pending;
      throw error;
    });
    const verdict = finalCondition(status);
    if (verdict === undefined) throw new VolumeError(`PodCertificateRequest ${JSON.stringify(`${namespace}/${pending.name}`)} has not been answered yet`);
    if (verdict.type !== "Issued") {
      const { reason = "", message = "" } = verdict;
      throw new VolumeError(
        `PodCertificateRequest ${JSON.stringify(`${namespace}/${pending.name}`)} was permanently ${verdict.type.toLowerCase()}; reason=${JSON.stringify(reason)} message=${JSON.stringify(message)}`,
      );
    }
    delete entry.pending;
    return {
      key: pending.key,
      chain: status.certificateChain ?? "",
      refreshAtMs: parseTime(status.beginRefreshAt ?? ""),
      notAfterMs: parseTime(status.notAfter ?? ""),
    };
  }

  async #ask(pod: DeepReadonly<Pod>, source: DeepReadonly<PodCertificateProjection>, signal: AbortSignal): Promise<{ name: string; key: string }> {
    const { client, nodeName, ownNode } = this.#options;
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    const accountName = pod.spec?.serviceAccountName ?? "default";
    const account = await client.get(resources.serviceAccounts, namespace, accountName, { signal });
    const { newCertificateKey } = await import("./certificate-key.ts");
    const { keyPem, request } = await newCertificateKey(source.keyType ?? "");
    const wanted: PodCertificateRequest = {
      metadata: { namespace, generateName: `req-${name.slice(0, 200)}-`, ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }] },
      spec: {
        signerName: source.signerName ?? "",
        podName: name,
        podUID: uid,
        serviceAccountName: accountName,
        serviceAccountUID: account.metadata.uid ?? "",
        nodeName,
        nodeUID: ownNode.current?.metadata.uid ?? "",
        stubPKCS10Request: Buffer.from(request).toString("base64"),
        ...(source.maxExpirationSeconds !== undefined && { maxExpirationSeconds: source.maxExpirationSeconds }),
        ...(source.userAnnotations !== undefined && { unverifiedUserAnnotations: { ...source.userAnnotations } }),
      },
    };
    const made = await client.create(resources.podCertificateRequests, wanted, { signal });
    return { name: made.metadata.name ?? "", key: keyPem };
  }

  /** The request with its answer, or as it is when none comes in time. */
  async #answered(namespace: string, name: string, signal: AbortSignal): Promise<DeepReadonly<PodCertificateRequest>> {
    const { client, clock, informers, nodeName } = this.#options;
    const { informer, release } = informers.borrow(resources.podCertificateRequests, { fieldSelector: `spec.nodeName=${nodeName}` });
    const patience = deadline(clock, patienceMs, signal);
    try {
      const answer = Promise.withResolvers<void>();
      const look = () => {
        const request = informer.get(namespace, name);
        if (request !== undefined && finalCondition(request.status ?? {}) !== undefined) answer.resolve();
      };
      const stop = informer.subscribe(look);
      const onAbort = () => answer.resolve();
      patience.signal.addEventListener("abort", onAbort, { once: true });
      await answer.promise;
      stop();
      signal.throwIfAborted();
      return await client.get(resources.podCertificateRequests, namespace, name, { signal });
    } finally {
      patience.cancel();
      release();
    }
  }
}

/** How long a volume waits for its certificate before it says so. */
const patienceMs = 15_000;
const retryMs = 60_000;

function finalCondition({ conditions = [] }: DeepReadonly<NonNullable<PodCertificateRequest["status"]>>) {
  return conditions.find(({ type, status }) => ["Issued", "Denied", "Failed"].includes(type) && status === "True");
}
