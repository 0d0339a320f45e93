import type { KindStrategy } from "../strategy.ts";
import { flowSchemas } from "./flowschema.ts";
import { priorityLevelConfigurations } from "./prioritylevelconfiguration.ts";

export const flowcontrolV1Strategies: readonly KindStrategy[] = [flowSchemas, priorityLevelConfigurations];
