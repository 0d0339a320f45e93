import type { KindStrategy } from "../strategy.ts";
import { storageVersionMigrations } from "./storageversionmigration.ts";

export const storagemigrationV1Strategies: readonly KindStrategy[] = [storageVersionMigrations];
