/** The owners last found absent, at most `limit`, the longest unused forgotten first. An owner seen to go is absent in every namespace. */
export class AbsentOwners {
  readonly #limit: number;
  readonly #keys = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `namespace` `""`: everywhere. */
  add(uid: string, namespace: string): void {
    this.#touch(`${uid} ${namespace}`);
    if (this.#keys.size <= this.#limit) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      return;
    }
  }

  has(uid: string, namespace: string): boolean {
    for (const key of [`${uid} `, `${uid} ${namespace}`]) {
      if (!this.#keys.has(key)) continue;
      this.#touch(key);
      return true;
    }
    return false;
  }

  #touch(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
  }
}
