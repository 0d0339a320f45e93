import type { KindStrategy } from "../strategy.ts";
import { apiServices } from "./apiservice.ts";

export const apiregistrationV1Strategies: readonly KindStrategy[] = [apiServices];
