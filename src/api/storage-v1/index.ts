import type { KindStrategy } from "../strategy.ts";
import { csiDrivers } from "./csidriver.ts";
import { csiNodes } from "./csinode.ts";
import { csiStorageCapacities } from "./csistoragecapacity.ts";
import { storageClasses } from "./storageclass.ts";
import { volumeAttachments } from "./volumeattachment.ts";
import { volumeAttributesClasses } from "./volumeattributesclass.ts";

export const storageV1Strategies: readonly KindStrategy[] = [
  storageClasses,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  volumeAttachments,
  volumeAttributesClasses,
];
