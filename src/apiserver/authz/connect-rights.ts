/** Connections that are opened by GET (WebSockets) and do what a POST would: they take the right to create, too (feature gate AuthorizePodWebsocketUpgradeCreatePermission). */
import type { RequestContext } from "../request-context.ts";
import { attributesOf } from "../stages/authorization.ts";
import { refusal } from "./refusal.ts";

/** Throws 403 unless the user may create what the request is for. */
export async function requireCreate(context: RequestContext): Promise<void> {
  const attributes = { ...attributesOf(context), verb: "create" };
  const decision = await context.server.authorizer.authorize(attributes);
  if (decision.verdict !== "allow") throw refusal(attributes, decision);
}
