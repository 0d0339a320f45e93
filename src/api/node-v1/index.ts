import type { KindStrategy } from "../strategy.ts";
import { runtimeClasses } from "./runtimeclass.ts";

export const nodeV1Strategies: readonly KindStrategy[] = [runtimeClasses];
