/**
 * Paths into an object as error causes show them: `spec.containers[0].env[1].name`, `data[key.txt]`. Validation names each place that it looks
 * at, and nearly always finds nothing: a path is put together when somebody asks for its text.
 */
export class FieldPath {
  readonly #parent: FieldPath | undefined;
  /** What follows the parent's text; after `.` unless the parent is empty when `#isName`. */
  readonly #step: string;
  readonly #isName: boolean;

  private constructor(parent: FieldPath | undefined, step: string, isName: boolean) {
    this.#parent = parent;
    this.#step = step;
    this.#isName = isName;
  }

  static root(...names: string[]): FieldPath {
    return new FieldPath(undefined, names.join("."), true);
  }

  child(name: string, ...names: string[]): FieldPath {
    return new FieldPath(this, names.length === 0 ? name : `${name}.${names.join(".")}`, true);
  }

  index(index: number): FieldPath {
    return new FieldPath(this, `[${index}]`, false);
  }

  key(key: string): FieldPath {
    return new FieldPath(this, `[${key}]`, false);
  }

  toString(): string {
    const before = this.#parent === undefined ? "" : this.#parent.toString();
    return this.#isName && before !== "" ? `${before}.${this.#step}` : before + this.#step;
  }
}
