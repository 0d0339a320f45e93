/**
 * Requests that do what a POST would though they are none take the right to create, too: connections opened by GET (WebSockets; feature gate
 * AuthorizePodWebsocketUpgradeCreatePermission), and updates and applies that make an object (documentation page "API concepts").
 */
import type { RequestContext } from "../request-context.ts";
import { attributesOf } from "../stages/authorization.ts";
import { refusal } from "./refusal.ts";

/** Throws 403 unless the user may create what the request is for. */
export async function requireCreate(context: RequestContext): Promise<void> {
  const attributes = { ...attributesOf(context), verb: "create" };
  const decision = await context.server.authorizer.authorize(attributes);
  if (decision.verdict !== "allow") throw refusal(attributes, decision);
}
