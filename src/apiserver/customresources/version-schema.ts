/** The schema of one version of a custom resource, and what is made of it. Compiled on first use: most definitions are rarely asked for. */
import type { JsonObject } from "../../apimachinery/json.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import { hasDefaults } from "../../apimachinery/structural/defaults.ts";
import { parseStructuralSchema } from "../../apimachinery/structural/structural-schema.ts";
import type { StructuralSchema } from "../../apimachinery/structural/structural-schema.ts";
import { typedSchema } from "../../apimachinery/structural/typed-schema.ts";
import { ruleSet } from "./rules/cel-rules.ts";
import type { RuleSet } from "./rules/cel-rules.ts";
import { hasEmbeddedResources } from "./embedded-resources.ts";
import { metadataSchema } from "./object-metadata.ts";

export class VersionSchema {
  readonly #source: () => JsonObject;
  #structural: StructuralSchema | undefined;
  #typed: StructSchema | undefined;
  #rules: RuleSet | undefined;
  #hasDefaults: boolean | undefined;
  #hasEmbedded: boolean | undefined;

  /** `source` gives the version's `openAPIV3Schema`. */
  constructor(source: () => JsonObject) {
    this.#source = source;
  }

  get structural(): StructuralSchema {
    return (this.#structural ??= parseStructuralSchema(this.#source()));
  }

  /** As managed fields and server-side apply read it. */
  get typed(): StructSchema {
    return (this.#typed ??= typedSchema(this.structural, metadataSchema));
  }

  /** Its CEL rules. */
  get rules(): RuleSet {
    return (this.#rules ??= ruleSet(this.#source()));
  }

  get hasDefaults(): boolean {
    return (this.#hasDefaults ??= hasDefaults(this.structural));
  }

  get hasEmbeddedResources(): boolean {
    return (this.#hasEmbedded ??= hasEmbeddedResources(this.structural));
  }
}
