/**
 * The public keys of an issuer, read from where its discovery document says (OpenID Connect Discovery 1.0, RFC 7517).
 *
 * Driven by `run` until its signal aborts. Keys are read at start, and again when a token names one that is not known, at most every ten
 * seconds; what was good stays in force when reading fails.
 */
import { createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { sleep } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { isAbort } from "../../../base/task-group.ts";

/** Reads a JSON document over HTTPS; rejects when the answer is not 200. */
export type DocumentReader = (url: string, options: { readonly certificateAuthority: string | undefined; readonly signal: AbortSignal }) => Promise<unknown>;

export interface PublicKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** RFC 7517, section 4; the members of the key itself are read by the crypto library. */
interface JsonWebKeyText {
  readonly kid?: string;
  readonly use?: string;
  readonly [member: string]: unknown;
}

export interface KeySetOptions {
  readonly issuer: string;
  readonly discoveryUrl: string;
  readonly certificateAuthority: string | undefined;
  readonly read: DocumentReader;
  readonly clock: Clock;
  readonly log: Log;
}

const retryMs = 10_000;

export class KeySet {
  readonly #options: KeySetOptions;
  #keys: readonly PublicKey[] | undefined;
  #wake: (() => void) | undefined;

  constructor(options: KeySetOptions) {
    this.#options = options;
  }

  /** Undefined until they were read for the first time. */
  get keys(): readonly PublicKey[] | undefined {
    return this.#keys;
  }

  /** Asks for the keys to be read again. */
  refresh(): void {
    this.#wake?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, issuer } = this.#options;
    while (!signal.aborted) {
      const asked = new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      try {
        this.#keys = await this.#read(signal);
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.warn("Could not read the keys of a token issuer", { issuer, error });
      }
      try {
        await sleep(clock, retryMs, signal);
      } catch {
        // Only the abort ends the pause early.
        return;
      }
      if (this.#keys !== undefined) await asked;
    }
  }

  async #read(signal: AbortSignal): Promise<PublicKey[]> {
    const { read, discoveryUrl, certificateAuthority, issuer } = this.#options;
    const document = (await read(discoveryUrl, { certificateAuthority, signal })) as { issuer?: string; jwks_uri?: string };
    if (document.issuer !== issuer) throw new Error(`the discovery document names the issuer ${JSON.stringify(document.issuer)}`);
    const { keys = [] } = (await read(document.jwks_uri ?? "", { certificateAuthority, signal })) as { keys?: JsonWebKeyText[] };
    return keys
      .filter(({ use }) => use === undefined || use === "sig")
      .map((jwk) => ({ id: jwk.kid ?? "", key: createPublicKey({ key: jwk, format: "jwk" }) }));
  }
}
