/** What acting as somebody else takes: the classic right, or rights for this very request (KEP-5284, constrained impersonation). */
import type { UserInfo } from "../../apimachinery/request.ts";
import { serviceAccountUser } from "../authn/impersonation.ts";
import type { WantedUser } from "../authn/impersonation.ts";
import type { AuthorizationAttributes, ResourceAttributes } from "./authorizer.ts";

export interface ImpersonationMode {
  readonly name: string;
  /** Groups that come with the identity when none are asked for. */
  readonly groups?: readonly string[];
  /** Everything that must be allowed, in order; undefined when the mode is not for such a user. */
  checks(user: UserInfo, wanted: WantedUser, request: AuthorizationAttributes): AuthorizationAttributes[] | undefined;
}

const nodePrefix = "system:node:";
const nodeNameExtra = "authentication.kubernetes.io/node-name";
const authentication = { kind: "resource", group: "authentication.k8s.io", version: "v1", subresource: "", namespace: "" } as const;

/** In the order in which they are tried. */
export const impersonationModes: readonly ImpersonationMode[] = [
  {
    name: "associated-node",
    groups: ["system:nodes"],
    checks(user, wanted, request) {
      const node = plainNode(wanted);
      if (node === undefined || !serviceAccountUser.test(user.username) || user.extra?.[nodeNameExtra]?.[0] !== node) return undefined;
      return constrained(this.name, user, request, [{ ...authentication, user, verb: "", resource: "nodes", name: node }]);
    },
  },
  {
    name: "arbitrary-node",
    groups: ["system:nodes"],
    checks(user, wanted, request) {
      const node = plainNode(wanted);
      return node === undefined ? undefined : constrained(this.name, user, request, [{ ...authentication, user, verb: "", resource: "nodes", name: node }]);
    },
  },
  {
    name: "serviceaccount",
    checks(user, wanted, request) {
      const account = serviceAccountUser.exec(wanted.username);
      if (account === null || wanted.groups.length > 0 || wanted.uid !== "" || wanted.extra.size > 0) return undefined;
      return constrained(this.name, user, request, [
        { ...authentication, user, verb: "", resource: "serviceaccounts", namespace: account[1]!, name: account[2]! },
      ]);
    },
  },
  {
    name: "user-info",
    checks(user, wanted, request) {
      if (wanted.username.startsWith(nodePrefix) || serviceAccountUser.test(wanted.username)) return undefined;
      const { uid, groups, extra } = attributeChecks(user, wanted, "authentication.k8s.io");
      return constrained(this.name, user, request, [
        { ...authentication, user, verb: "", resource: "users", name: wanted.username },
        ...uid,
        ...groups,
        ...extra,
      ]);
    },
  },
  {
    name: "legacy",
    checks(user, wanted) {
      const account = serviceAccountUser.exec(wanted.username);
      const core = { ...authentication, user, group: "", verb: "" } as const;
      const identity =
        account === null
          ? { ...core, resource: "users", name: wanted.username }
          : { ...core, resource: "serviceaccounts", namespace: account[1]!, name: account[2]! };
      const { uid, groups, extra } = attributeChecks(user, wanted, "");
      return [identity, ...groups, ...extra, ...uid].map((check) => ({ ...check, verb: "impersonate" }));
    },
  },
];

/** The request itself first, then the identity: so a refusal names what was wanted. */
function constrained(mode: string, user: UserInfo, request: AuthorizationAttributes, identity: readonly AuthorizationAttributes[]): AuthorizationAttributes[] {
  return [{ ...request, user, verb: `impersonate-on:${mode}:${request.verb}` }, ...identity.map((check) => ({ ...check, verb: `impersonate:${mode}` }))];
}

function attributeChecks(
  user: UserInfo,
  { groups, uid, extra }: WantedUser,
  groupsGroup: string,
): Readonly<Record<"uid" | "groups" | "extra", ResourceAttributes[]>> {
  const base = { ...authentication, user, verb: "" } as const;
  return {
    uid: uid === "" ? [] : [{ ...base, resource: "uids", name: uid }],
    groups: groups.map((name) => ({ ...base, group: groupsGroup, resource: "groups", name })),
    extra: [...extra].flatMap(([key, values]) => values.map((name) => ({ ...base, resource: "userextras", subresource: key, name }))),
  };
}

/** The node's name, when nothing is wanted but to be that node. */
function plainNode({ username, groups, uid, extra }: WantedUser): string | undefined {
  if (!username.startsWith(nodePrefix) || uid !== "" || extra.size > 0) return undefined;
  return groups.every((group) => group === "system:nodes") ? username.slice(nodePrefix.length) : undefined;
}
