/** Which pods' victims are being asked to leave right now: those pods wait until that is done. Shared by the plugin and the driver. */
export class PreemptionGate {
  readonly #running = new Set<string>();

  begin(uid: string): void {
    this.#running.add(uid);
  }

  end(uid: string): void {
    this.#running.delete(uid);
  }

  isRunning(uid: string): boolean {
    return this.#running.has(uid);
  }
}
