/** Acting as somebody else: each way of allowing it is tried, the one that last worked for this caller first. */
import type { UserInfo } from "../../apimachinery/request.ts";
import type { StatusError } from "../../apimachinery/status.ts";
import { impersonatedUser, wantedUser } from "../authn/impersonation.ts";
import type { WantedUser } from "../authn/impersonation.ts";
import { impersonationModes } from "../authz/impersonation-modes.ts";
import type { ImpersonationMode } from "../authz/impersonation-modes.ts";
import { refusal } from "../authz/refusal.ts";
import type { RequestContext, Stage } from "../request-context.ts";
import { attributesOf } from "./authorization.ts";

export const impersonation: Stage = {
  name: "impersonation",
  run(context, next) {
    const wanted = wantedUser(context.request.headers);
    return wanted === undefined ? next() : impersonate(context, wanted).then(next);
  },
};

async function impersonate(context: RequestContext, wanted: WantedUser): Promise<void> {
  const mode = await allowingMode(context, wanted);
  const constraint = constraintOf(mode, context.user, wanted);
  context.user = impersonatedUser(wanted, mode.groups);
  context.audit?.impersonates(context.user, constraint);
}

/** The narrow right that allowed it, as the audit tells it. Administrators have all of them: the narrowest that is for plain users counts. */
function constraintOf(mode: ImpersonationMode, user: UserInfo, wanted: WantedUser): string | undefined {
  if (mode.name !== "legacy") return `impersonate:${mode.name}`;
  if (!user.groups.includes("system:masters") || wanted.uid !== "" || wanted.extra.size > 0) return undefined;
  const path = { kind: "path", user, verb: "", path: "" } as const;
  const narrow = impersonationModes.find((candidate) => candidate.name !== "legacy" && candidate.checks(user, wanted, path) !== undefined);
  return narrow && `impersonate:${narrow.name}`;
}

/** Callers whose last way is remembered. */
const rememberedLimit = 1024;
const lastModes = new WeakMap<RequestContext["server"], Map<string, ImpersonationMode>>();

async function allowingMode(context: RequestContext, wanted: WantedUser): Promise<ImpersonationMode> {
  const { server, user } = context;
  // Who may do everything needs no narrower way, and gets nothing added by one.
  if (user.groups.includes("system:masters")) return impersonationModes.at(-1)!;
  let remembered = lastModes.get(server);
  if (remembered === undefined) lastModes.set(server, (remembered = new Map()));
  const last = remembered.get(user.username);
  const modes = last === undefined ? impersonationModes : [last, ...impersonationModes.filter((mode) => mode !== last)];
  let refused: StatusError | undefined;
  for (const mode of modes) {
    const outcome = await tryMode(context, wanted, mode);
    if (outcome === "allowed") {
      if (last === mode) return mode;
      if (remembered.size >= rememberedLimit) remembered.delete(remembered.keys().next().value!);
      remembered.set(user.username, mode);
      return mode;
    }
    // The first refusal is told: it is the way that the caller most likely meant.
    if (outcome !== "not-applicable") refused ??= outcome;
  }
  context.responseHeaders["x-coracle-refused"] = "1";
  throw refused!;
}

async function tryMode(context: RequestContext, wanted: WantedUser, mode: ImpersonationMode): Promise<"allowed" | "not-applicable" | StatusError> {
  const checks = mode.checks(context.user, wanted, attributesOf(context));
  if (checks === undefined) return "not-applicable";
  for (const attributes of checks) {
    const decision = await context.server.authorizer.authorize(attributes);
    if (decision.verdict !== "allow") return refusal(attributes, { ...decision, reason: decision.reason || (decision.evaluationError ?? "") });
  }
  return "allowed";
}
