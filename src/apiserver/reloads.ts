/** Parts of the configuration that are replaced while the server runs: what cannot be used is refused, told and counted, and what was good stays in force. */
import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { MetricRegistry } from "../base/metrics.ts";
import { certificatesOf } from "./authn/certificate-trust.ts";
import type { CertificateTrust } from "./authn/certificate-trust.ts";
import type { ConfiguredTokens } from "./authn/configured.ts";
import type { AuthenticationConfiguration } from "./authn/jwt/configuration.ts";
import type { AuthorizationChoice, ReplaceableAuthorizers } from "./authz/modes.ts";

interface ReloadableParts {
  readonly clientTrust: CertificateTrust;
  readonly proxyTrust: CertificateTrust;
  readonly tokens: ConfiguredTokens;
  readonly authorizers: ReplaceableAuthorizers;
}

interface ReloadTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricRegistry;
  readonly serverId: string;
  /** Called when `published` has changed. */
  readonly onPublished: () => void;
}

export class Reloads {
  readonly #parts: ReloadableParts;
  readonly #tools: ReloadTools;
  /** What others are told of the authorities that were reloaded, by key of the ConfigMap `extension-apiserver-authentication`. */
  readonly published: Record<string, string> = {};

  constructor(parts: ReloadableParts, tools: ReloadTools) {
    this.#parts = parts;
    this.#tools = tools;
  }

  /** Authorities of client certificates: a bundle of PEM, beside `own` ones. */
  clientAuthorities(bundle: string, own: readonly string[] = []): void {
    this.#authorities("client certificates", this.#parts.clientTrust, bundle, { own, key: "client-ca-file" });
  }

  /** Authorities of front proxies. */
  proxyAuthorities(bundle: string): void {
    this.#authorities("front proxies", this.#parts.proxyTrust, bundle, { own: [], key: "requestheader-client-ca-file" });
  }

  /** `text` is the file's content, `read` what it says; read throws when that cannot be told. */
  authentication(text: string, read: () => AuthenticationConfiguration): void {
    this.#counted("authentication", "failed to validate authentication config", text, () => this.#parts.tokens.replace(read()));
  }

  /** `choice` is an Error when the file cannot be read. */
  authorization(text: string, choice: AuthorizationChoice | Error): void {
    this.#counted("authorization", "reloading authorization config", text, () => {
      if (choice instanceof Error) throw choice;
      this.#parts.authorizers.replace(choice);
    });
  }

  #authorities(of: string, trust: CertificateTrust, bundle: string, { own, key }: { readonly own: readonly string[]; readonly key: string }): void {
    const { log } = this.#tools;
    const authorities = certificatesOf(bundle);
    try {
      if (authorities.length === 0) throw new Error("data does not contain any valid RSA or ECDSA certificates");
      trust.replace([...new Set([...authorities, ...own])]);
      log.info("Reloaded authorities", { of, count: authorities.length });
      this.published[key] = bundle;
      this.#tools.onPublished();
    } catch (error) {
      log.error("Could not reload authorities", { of, error });
    }
  }

  #counted(what: "authentication" | "authorization", refusal: string, text: string, replace: () => void): void {
    const { log } = this.#tools;
    let status = "success";
    try {
      replace();
      log.info("Reloaded configuration", { what });
    } catch (error) {
      status = "failure";
      log.error(refusal, { error });
    }
    this.#count(what, status, text);
  }

  #count(what: string, status: string, text: string): void {
    const { clock, metrics, serverId } = this.#tools;
    const prefix = `apiserver_${what}_config_controller_`;
    const id = hashOf(serverId);
    metrics.counter(`${prefix}automatic_reloads_total`, `Reloads of the ${what} configuration.`, ["apiserver_id_hash", "status"]).add(1, id, status);
    metrics
      .gauge(`${prefix}automatic_reload_last_timestamp_seconds`, `When the ${what} configuration was last reloaded.`, ["apiserver_id_hash", "status"])
      .set(clock.nowMs() / 1000, id, status);
    if (status === "success")
      metrics.gauge(`${prefix}last_config_info`, `The ${what} configuration in force.`, ["apiserver_id_hash", "hash"]).setOnly(1, id, hashOf(text));
  }
}

function hashOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
