import type { KindStrategy } from "../strategy.ts";
import { resourcePoolStatusRequests } from "./poolstatusrequest.ts";

export const resourceV1alpha3Strategies: readonly KindStrategy[] = [resourcePoolStatusRequests];
