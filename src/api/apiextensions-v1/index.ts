import type { KindStrategy } from "../strategy.ts";
import { customResourceDefinitions } from "./customresourcedefinition.ts";

export const apiextensionsV1Strategies: readonly KindStrategy[] = [customResourceDefinitions];
