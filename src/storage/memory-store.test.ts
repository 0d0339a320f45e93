import { VirtualClock } from "../base/virtual-clock.ts";
import { openMemoryStore } from "./memory-store.ts";
import { storeConformance } from "./store-conformance.ts";

storeConformance("memory store", async () => {
  const clock = new VirtualClock();
  return { store: openMemoryStore({ clock }), clock };
});
