import type { KindStrategy } from "../strategy.ts";
import { events } from "./event.ts";

export { eventFromCore, eventToCore } from "./conversion.ts";
export const eventsV1Strategies: readonly KindStrategy[] = [events];
