import type { Random } from "../../../base/random.ts";

/** Hands out the IPv4 addresses of a range, the one released longest ago last. No I/O. */
export class AddressPool {
  readonly #base: number;
  readonly #size: number;
  readonly #used = new Set<string>();
  #next = 0;

  /**
   * `cidr` such as `10.244.0.0/24`; its first two addresses (network, gateway) and its last are not handed out. With `random` it starts
   * anywhere, so that pools of the same range that know nothing of each other hardly meet.
   */
  constructor(cidr: string, random?: Random) {
    const [address = "", prefix = "32"] = cidr.split("/");
    this.#base = address.split(".").reduce((total, part) => total * 256 + Number(part), 0) + 2;
    this.#size = Math.max(0, 2 ** (32 - Number(prefix)) - 3);
    if (random !== undefined) this.#next = random.integer(this.#size);
  }

  /** Undefined when all are in use. */
  take(): string | undefined {
    for (let tried = 0; tried < this.#size; tried++) {
      const address = format(this.#base + this.#next);
      this.#next = (this.#next + 1) % this.#size;
      if (this.claim(address)) return address;
    }
    return undefined;
  }

  /** Marks an address as used; false when it already is. */
  claim(address: string): boolean {
    if (this.#used.has(address)) return false;
    this.#used.add(address);
    return true;
  }

  release(address: string): void {
    this.#used.delete(address);
  }
}

function format(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
