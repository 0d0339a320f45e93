import type { KindStrategy } from "../strategy.ts";
import { deviceClasses } from "./deviceclass.ts";
import { deviceTaintRules } from "./devicetaintrule.ts";
import { resourceClaims } from "./resourceclaim.ts";
import { resourceClaimTemplates } from "./resourceclaimtemplate.ts";
import { resourceSlices } from "./resourceslice.ts";

export const resourceV1Strategies: readonly KindStrategy[] = [deviceClasses, deviceTaintRules, resourceClaims, resourceClaimTemplates, resourceSlices];
