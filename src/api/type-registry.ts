/** The one registry of all types of the API. */
import { TypeRegistry } from "../apimachinery/schema.ts";
import type { CompactType } from "../apimachinery/schema.ts";
import types from "./data/types.json" with { type: "json" };

export const typeRegistry = new TypeRegistry(types as unknown as Readonly<Record<string, CompactType>>);
