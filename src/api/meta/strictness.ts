/** How closely addresses are looked at: a feature gate decides. */
import type { Strictness } from "../../apimachinery/net.ts";
import type { RuleContext } from "../strategy.ts";

export function strictnessOf(context: Pick<RuleContext, "isEnabled">): Strictness {
  return context.isEnabled("StrictIPCIDRValidation") ? "strict" : "legacy";
}
