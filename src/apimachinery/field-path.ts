/** Paths into an object as error causes show them: `spec.containers[0].env[1].name`, `data[key.txt]`. */
export class FieldPath {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static root(...names: string[]): FieldPath {
    return new FieldPath(names.join("."));
  }

  child(...names: string[]): FieldPath {
    const text = names.join(".");
    return new FieldPath(this.#text === "" ? text : `${this.#text}.${text}`);
  }

  index(index: number): FieldPath {
    return new FieldPath(`${this.#text}[${index}]`);
  }

  key(key: string): FieldPath {
    return new FieldPath(`${this.#text}[${key}]`);
  }

  toString(): string {
    return this.#text;
  }
}
