/**
 * The attached volumes that this node's pods need (`Node.status.volumesInUse`): as long as one is named there it is not detached. Told of
 * before it is used, and taken back after it has been taken down.
 */
export class VolumesInUse {
  readonly #users = new Map<string, Set<string>>();
  #onChange: (() => void) | undefined;

  get names(): readonly string[] {
    return [...this.#users.keys()].toSorted();
  }

  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  add(name: string, podUid: string): void {
    const users = this.#users.get(name);
    if (users !== undefined) return void users.add(podUid);
    this.#users.set(name, new Set([podUid]));
    this.#onChange?.();
  }

  /** All that the pod used. */
  release(podUid: string): void {
    let isChanged = false;
    for (const [name, users] of this.#users) {
      if (users.delete(podUid) && users.size === 0) isChanged = this.#users.delete(name);
    }
    if (isChanged) this.#onChange?.();
  }
}
