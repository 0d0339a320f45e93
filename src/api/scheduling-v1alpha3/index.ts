import type { KindStrategy } from "../strategy.ts";
import { compositePodGroups } from "./compositepodgroup.ts";

export const schedulingV1alpha3Strategies: readonly KindStrategy[] = [compositePodGroups];
