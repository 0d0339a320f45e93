/** Every type of the built-in API, built once from the data beside this file. */
import { TypeRegistry } from "../apimachinery/schema.ts";
import type { CompactType } from "../apimachinery/schema.ts";
import types from "./data/types.json" with { type: "json" };

export const typeRegistry = new TypeRegistry(types as unknown as Readonly<Record<string, CompactType>>);
