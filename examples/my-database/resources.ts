import { defineResource, schema } from "coracle/operator";
import type { ObjectOf } from "coracle/operator";

const names = schema.list(schema.text());

/** A PostgreSQL cluster: one primary, the others follow it, one of them synchronously. */
export const databases = defineResource({
  group: "mydb.example.com",
  kind: "MyDatabase",
  plural: "mydatabases",
  shortNames: ["mydb"],
  spec: schema.object({
    version: schema.text({ pattern: "^[0-9]+\\.[0-9]+$" }).describe("Minor versions can go up; the major version stays"),
    replicas: schema.integer({ minimum: 1, maximum: 9 }).default(1).describe("Instances, the primary included"),
    storage: schema.quantity().default("1Gi").rule("self == oldSelf", "the storage of a database cannot be changed"),
    backup: schema
      .object({
        schedule: schema.text().describe("Cron: minute hour day month weekday, in UTC").optional(),
        keep: schema.integer({ minimum: 1, maximum: 100 }).default(7),
      })
      .default({ keep: 7 }),
    restoreFrom: schema.text().describe("Name of a DatabaseBackup that a new database begins with").optional(),
  }),
  status: schema.object({
    primary: schema.text().optional(),
    /** Grows with every change of the primary; instances refuse orders of older terms. */
    term: schema.integer().optional(),
    isInitialized: schema.boolean().optional(),
    /** Whom the primary is told to wait for, at most one. */
    requires: names.optional(),
    /** One of these has every acknowledged transaction, besides the primary. */
    synchronous: names.optional(),
    lostSince: schema.time().optional(),
    failover: schema.object({ term: schema.integer(), candidates: names }).optional(),
    ready: schema.integer().optional(),
    lastBackup: schema.text().optional(),
    lastScheduled: schema.time().optional(),
  }),
  columns: [
    { name: "Version", path: ".spec.version" },
    { name: "Replicas", path: ".spec.replicas", type: "integer" },
    { name: "Ready", path: ".status.ready", type: "integer" },
    { name: "Primary", path: ".status.primary" },
    { name: "Healthy", path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Attention", path: '.status.conditions[?(@.type=="NeedsAttention")].reason' },
    { name: "Synchronous", path: ".status.synchronous", isWide: true },
    { name: "Backup", path: ".status.lastBackup", isWide: true },
  ],
});
export type MyDatabase = ObjectOf<typeof databases>;

/** One backup. Made on the schedule, by a person, or before a database goes; outlives its database. */
export const backups = defineResource({
  group: "mydb.example.com",
  kind: "DatabaseBackup",
  shortNames: ["mydbb"],
  spec: schema.object({ database: schema.text().immutable() }),
  status: schema.object({ phase: schema.oneOf("Running", "Done", "Failed").optional(), size: schema.integer().optional(), at: schema.time().optional() }),
  columns: [
    { name: "Database", path: ".spec.database" },
    { name: "Phase", path: ".status.phase" },
    { name: "Size", path: ".status.size", type: "integer" },
  ],
});
export type DatabaseBackup = ObjectOf<typeof backups>;

export const labels = { database: "mydb.example.com/database", role: "mydb.example.com/role", version: "mydb.example.com/version" } as const;
