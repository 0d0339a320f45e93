/**
 * Texts that describe types, fields and parameters. They come from a published package when the server is built (tools/descriptions.ts) and are
 * read on first use; a server without them works and describes nothing.
 */
import { readFileSync } from "node:fs";

export class Descriptions {
  readonly #read: () => DescriptionTexts;
  #texts: DescriptionTexts | undefined;

  /** `read` is called once, on first use. */
  constructor(read: () => DescriptionTexts = readBuiltTexts) {
    this.#read = read;
  }

  /** Where the texts come from: they are the same for the same source. */
  get source(): string {
    return this.#all().source;
  }

  /** Of a type, named as OpenAPI names it without `io.k8s.`; empty when there is none. */
  type(name: string): string {
    return this.#all().types[name]?.[""] ?? "";
  }

  field(type: string, field: string): string {
    const texts = this.#all().types[type];
    return texts !== undefined && Object.hasOwn(texts, field) ? texts[field]! : "";
  }

  /** `scope` is what has texts of its own for a parameter: `Patch`, or a connection such as `PodExec`. */
  parameter(name: string, scope = ""): string {
    const { parameters } = this.#all();
    return parameters[`${scope}.${name}`] ?? parameters[name] ?? "";
  }

  #all(): DescriptionTexts {
    return (this.#texts ??= this.#read());
  }
}

export interface DescriptionTexts {
  readonly source: string;
  /** By type and field; the type's own text under the empty name. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly parameters: Readonly<Record<string, string>>;
}

const file = new URL("./descriptions.json", import.meta.url);

function readBuiltTexts(): DescriptionTexts {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as DescriptionTexts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { source: "", types: {}, parameters: {} };
    throw error;
  }
}
