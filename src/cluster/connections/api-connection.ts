/**
 * How a component reaches the API server: in process through a loopback transport, or over TLS from a process of its own. Either way each
 * identity has a transport of its own.
 */
import type { Transport, UserInfo } from "../../apimachinery/request.ts";
import { isAlreadyExists } from "../../apimachinery/status.ts";
import { Client, TlsTransport, loopbackTransport, resources } from "../../client/index.ts";
import type { RequestHandler } from "../../client/index.ts";
import type { TokenRequest } from "../../api/authentication-v1/types.ts";
import { clientName } from "../certificates/certificates.ts";
import type { Certificates } from "../certificates/certificates.ts";
import type { Environment } from "../environment.ts";
import { renewedPair } from "../certificates/renewal.ts";

export interface ApiConnection extends AsyncDisposable {
  /** `https://host:port`, for what is told to others (kubeconfigs, pods). */
  readonly url: string;
  transportFor(user: UserInfo): Transport;
}

export function loopbackConnection(url: string, handler: RequestHandler): ApiConnection {
  return { url, transportFor: (user) => loopbackTransport(handler, user), async [Symbol.asyncDispose]() {} };
}

const serviceAccount = /^system:serviceaccount:([^:]+):([^:]+)$/;
/** A token is renewed when less than this part of its life remains. */
const renewalPart = 0.2;
const tokenSeconds = 3600;

/** Over TLS. Users get client certificates of the cluster's authority, service accounts get tokens that the controller manager asks for. */
export function tlsConnection(url: string, certificates: Certificates, environment: Environment): ApiConnection {
  const open: TlsTransport[] = [];
  const { clock } = environment;
  const withCertificate = (user: UserInfo): Transport => {
    let transport: Promise<TlsTransport> | undefined;
    const connect = async () => {
      const groups = user.groups.filter((group) => group !== "system:authenticated");
      const clientCertificate = renewedPair(() => certificates.client(clientName(user.username), user.username, groups), clock);
      const made = new TlsTransport({ url, clock, ca: () => certificates.authority(), clientCertificate });
      open.push(made);
      return made;
    };
    return async (request) => (await (transport ??= connect())).send(request);
  };
  const withToken = (namespace: string, name: string): Transport => {
    const source = new TokenSource(
      new Client({ transport: withCertificate({ username: "system:kube-controller-manager", groups: [] }), clock, userAgent: "coracle" }),
      { namespace, name },
    );
    let transport: Promise<TlsTransport> | undefined;
    const connect = async () => {
      const made = new TlsTransport({ url, clock, ca: () => certificates.authority(), bearerToken: () => source.token(clock.nowMs()) });
      open.push(made);
      return made;
    };
    return async (request) => (await (transport ??= connect())).send(request);
  };
  return {
    url,
    transportFor(user) {
      const account = serviceAccount.exec(user.username);
      return account === null ? withCertificate(user) : withToken(account[1]!, account[2]!);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(open.map((transport) => transport.close()));
    },
  };
}

/** Tokens of one service account, which is made when it is missing. State: the newest token and when it ends. */
class TokenSource {
  readonly #client: Client;
  readonly #account: { readonly namespace: string; readonly name: string };
  #current: { readonly token: string; readonly expiresMs: number } | undefined;

  constructor(client: Client, account: { readonly namespace: string; readonly name: string }) {
    this.#client = client;
    this.#account = account;
  }

  async token(nowMs: number): Promise<string> {
    if (this.#current !== undefined && this.#current.expiresMs - nowMs > tokenSeconds * 1000 * renewalPart) return this.#current.token;
    const { namespace, name } = this.#account;
    await this.#client
      .create(resources.serviceAccounts, { kind: "ServiceAccount", apiVersion: "v1", metadata: { namespace, name } })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    const request: TokenRequest = {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: {},
      spec: { audiences: [], expirationSeconds: tokenSeconds },
    };
    const answer = await this.#client.createSubresource<TokenRequest>(resources.serviceAccounts, { namespace, name, subresource: "token" }, request);
    this.#current = { token: answer.status!.token!, expiresMs: Date.parse(answer.status!.expirationTimestamp!) };
    return this.#current.token;
  }
}
