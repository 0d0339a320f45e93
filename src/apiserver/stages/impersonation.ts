/** Acting as somebody else (documentation page "User impersonation"): each attribute needs a right of its own. */
import { internalServerError } from "../../apimachinery/status.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestContext, Stage } from "../request-context.ts";
import type { ResourceAttributes } from "../authz/authorizer.ts";
import { refusal } from "../authz/refusal.ts";

const extraPrefix = "impersonate-extra-";
const serviceAccountUser = /^system:serviceaccount:([^:]+):([^:]+)$/;

export const impersonation: Stage = {
  name: "impersonation",
  async run(context, next) {
    const { headers } = context.request;
    const wanted = wantedUser(headers);
    if (wanted === undefined) {
      const isIncomplete = headers["impersonate-group"] !== undefined || headers["impersonate-uid"] !== undefined || Object.keys(headers).some((name) => name.startsWith(extraPrefix));
      if (isIncomplete) throw internalServerError("requested [group/uid/extra] without impersonating a user name");
      return next();
    }
    for (const attributes of rightsNeeded(context.user, wanted)) {
      const decision = await context.server.authorizer.authorize(attributes);
      if (decision.verdict !== "allow") throw refuse(context, attributes, decision);
    }
    context.user = completed(wanted);
    return next();
  },
};

interface WantedUser {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid: string | undefined;
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

function wantedUser(headers: Readonly<Record<string, string>>): WantedUser | undefined {
  const username = headers["impersonate-user"];
  if (username === undefined || username === "") return undefined;
  const extra = new Map<string, string[]>();
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(extraPrefix)) extra.set(decodeURIComponent(name.slice(extraPrefix.length)), splitHeader(value));
  }
  return { username, groups: headers["impersonate-group"] === undefined ? [] : splitHeader(headers["impersonate-group"]), uid: headers["impersonate-uid"], extra };
}

/** Repeated headers reach us joined with a line feed. */
function splitHeader(value: string): string[] {
  return value.split("\n");
}

function* rightsNeeded(user: UserInfo, wanted: WantedUser): Generator<ResourceAttributes> {
  const base = { kind: "resource", user, verb: "impersonate", group: "", version: "v1", subresource: "", namespace: "" } as const;
  const account = serviceAccountUser.exec(wanted.username);
  if (account !== null) yield { ...base, resource: "serviceaccounts", namespace: account[1]!, name: account[2]! };
  else yield { ...base, resource: "users", name: wanted.username };
  for (const name of wanted.groups) yield { ...base, resource: "groups", name };
  const authentication = { ...base, group: "authentication.k8s.io" };
  if (wanted.uid !== undefined) yield { ...authentication, resource: "uids", name: wanted.uid };
  for (const [key, values] of wanted.extra) {
    for (const name of values) yield { ...authentication, resource: "userextras", subresource: key, name };
  }
}

function refuse(context: RequestContext, attributes: ResourceAttributes, decision: Parameters<typeof refusal>[1]) {
  context.responseHeaders["x-coracle-refused"] = "1";
  return refusal(attributes, decision);
}

/** The user as the rest of the pipeline sees it: groups that follow from the name are added. */
function completed(wanted: WantedUser): UserInfo {
  const account = serviceAccountUser.exec(wanted.username);
  let groups = [...wanted.groups];
  if (account !== null && groups.length === 0) groups = ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`];
  if (wanted.username === "system:anonymous") {
    if (!groups.includes("system:unauthenticated")) groups.push("system:unauthenticated");
  } else if (!groups.includes("system:authenticated")) groups.push("system:authenticated");
  return {
    username: wanted.username,
    groups,
    ...(wanted.uid !== undefined && { uid: wanted.uid }),
    ...(wanted.extra.size > 0 && { extra: Object.fromEntries(wanted.extra) }),
  };
}
