/** Who sends a request (documentation page "Authenticating"). Authenticators are asked in order; the first with an answer decides. */
import { followedBy } from "../../base/eventual.ts";
import type { Eventual } from "../../base/eventual.ts";
import type { ApiRequest, UserInfo } from "../../apimachinery/request.ts";

/**
 * - a user: authenticated
 * - `rejected`: credentials were given and are wrong; the request is refused unless a later authenticator accepts them
 * - undefined: no credentials of this kind
 */
export type AuthenticationResult = { readonly user: UserInfo } | { readonly rejected: string } | undefined;

export interface Authenticator {
  readonly name: string;
  authenticate(request: ApiRequest): Eventual<AuthenticationResult>;
}

/** Asks each in turn. A user found wins over earlier rejections. */
export function firstOf(authenticators: readonly Authenticator[]): Authenticator {
  const askFrom = (index: number, request: ApiRequest, rejected: AuthenticationResult): Eventual<AuthenticationResult> => {
    const authenticator = authenticators[index];
    if (authenticator === undefined) return rejected;
    return followedBy(authenticator.authenticate(request), (result) => {
      if (result !== undefined && "user" in result) return { user: withAuthenticatedGroup(result.user) };
      return askFrom(index + 1, request, rejected ?? result);
    });
  };
  return { name: "union", authenticate: (request) => askFrom(0, request, undefined) };
}

/** Identity fixed by the transport: components in the server's own process. */
export const loopbackAuthenticator: Authenticator = {
  name: "loopback",
  authenticate: (request) => (request.peer.identity === undefined ? undefined : { user: request.peer.identity }),
};

export const anonymousUser: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };

/** By the user as an authenticator found it: certificates give the same one with each request of a connection. */
const completed = new WeakMap<UserInfo, UserInfo>();

function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const group = "system:authenticated";
  if (user.groups.includes(group) || user.username === anonymousUser.username) return user;
  let complete = completed.get(user);
  if (complete === undefined) completed.set(user, (complete = { ...user, groups: [...user.groups, group] }));
  return complete;
}
