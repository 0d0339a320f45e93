/** Bearer tokens: what carries one, and who is asked about it (documentation page "Authenticating: Putting a bearer token in a request"). */
import type { ApiRequest, UserInfo } from "../../apimachinery/request.ts";
import type { AuthenticationResult, Authenticator } from "./authenticator.ts";

/**
 * - a user, and those of the asked audiences that the token is for
 * - `rejected`: a token of this kind, but not a good one
 * - undefined: not a token of this kind
 */
export type TokenResult = { readonly user: UserInfo; readonly audiences: readonly string[] } | { readonly rejected: string } | undefined;

export interface TokenAuthenticator {
  readonly name: string;
  authenticateToken(token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult>;
}

/** Asks each kind of token in turn; the first user found counts. */
export class BearerTokens implements Authenticator {
  readonly name = "bearer-token";
  #kinds: readonly TokenAuthenticator[];
  readonly #apiAudiences: readonly string[];

  constructor(kinds: readonly TokenAuthenticator[], apiAudiences: readonly string[]) {
    this.#kinds = kinds;
    this.#apiAudiences = apiAudiences;
  }

  /** From now on these kinds are asked. */
  replace(kinds: readonly TokenAuthenticator[]): void {
    this.#kinds = kinds;
  }

  async authenticate(request: ApiRequest): Promise<AuthenticationResult> {
    const { token } = readBearer(request);
    return token === undefined ? undefined : this.review(token, this.#apiAudiences);
  }

  /** Who the token stands for, for `audiences` (none: the server's own); a token that nobody knows is rejected. */
  async review(token: string, audiences: readonly string[]): Promise<Exclude<TokenResult, undefined>> {
    const asked = audiences.length === 0 ? this.#apiAudiences : audiences;
    const faults: string[] = [];
    for (const kind of this.#kinds) {
      const result = await kind.authenticateToken(token, asked);
      if (result === undefined) continue;
      if ("user" in result) return result;
      faults.push(result.rejected);
    }
    return { rejected: faults.length === 0 ? "invalid bearer token" : `[${["invalid bearer token", ...faults].join(", ")}]` };
  }
}

/** A kind of token that names no audience is good for the server's own. */
export function forApiAudiences(
  name: string,
  apiAudiences: readonly string[],
  find: (token: string) => { readonly user: UserInfo } | { readonly rejected: string } | undefined,
): TokenAuthenticator {
  return {
    name,
    authenticateToken(token, asked) {
      const audiences = asked.filter((audience) => apiAudiences.includes(audience));
      const found = audiences.length === 0 ? undefined : find(token);
      return found === undefined || "rejected" in found ? found : { user: found.user, audiences };
    },
  };
}

/** The token of a request. `hasExtraSpace`: one was meant, but a second space hides it. */
export function readBearer(request: Pick<ApiRequest, "headers">): { readonly token: string | undefined; readonly hasExtraSpace: boolean } {
  const header = request.headers["authorization"];
  if (header === undefined) return noBearer;
  const [scheme = "", token = "", rest] = splitTwice(header.trim());
  if (scheme.toLowerCase() !== "bearer") return { token: undefined, hasExtraSpace: false };
  return { token: token === "" ? undefined : token, hasExtraSpace: token === "" && rest !== undefined };
}

const noBearer = { token: undefined, hasExtraSpace: false };

/** At the first two spaces. */
function splitTwice(text: string): string[] {
  const first = text.indexOf(" ");
  if (first < 0) return [text];
  const second = text.indexOf(" ", first + 1);
  return second < 0 ? [text.slice(0, first), text.slice(first + 1)] : [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}
