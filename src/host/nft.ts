/** nftables, one transaction at a time: the kernel takes a ruleset whole or not at all. */
import type { Programs } from "./programs.ts";

export interface Nft {
  /** Applies a script in nft's language as one transaction; rejects with `NftError`, nothing applied. */
  apply(script: string): Promise<void>;
  /** `nft --json ARGS…`, parsed: the list under `nftables`. */
  list(args: readonly string[]): Promise<unknown[]>;
  /** nft's version such as `1.0.6`, or undefined when there is no nft or the kernel refuses it. */
  version(): Promise<string | undefined>;
}

export class NftError extends Error {
  override name = "NftError";
  readonly reason: "NotFound" | "Refused";

  constructor(message: string) {
    super(message);
    this.reason = /No such file or directory/.test(message) ? "NotFound" : "Refused";
  }
}

export function createNft(options: { programs: Programs; path?: string; timeoutMs?: number }): Nft {
  const command = options.path ?? "nft";
  const run = async (args: readonly string[], input: string) => {
    const result = await options.programs.run({ command, args, input, timeoutMs: options.timeoutMs ?? 120_000, outputLimitBytes: 256 * 1024 * 1024 });
    if (result.exitCode !== 0) throw new NftError(result.timedOut ? "nft took too long" : result.stderr.toString().trim());
    return result.stdout.toString();
  };
  return {
    apply: async (script) => {
      await run(["-f", "-"], script);
    },
    list: async (args) => {
      const parsed: unknown = JSON.parse(await run(["--json", ...args], ""));
      const items = typeof parsed === "object" && parsed !== null && "nftables" in parsed ? parsed.nftables : undefined;
      return Array.isArray(items) ? items : [];
    },
    version: async () => {
      const usable = await options.programs.run({ command, args: ["list", "tables"] }).catch(() => undefined);
      if (usable?.exitCode !== 0) return undefined;
      const result = await options.programs.run({ command, args: ["--version"] });
      return /v(\d[\d.]*)/.exec(result.stdout.toString())?.[1];
    },
  };
}
