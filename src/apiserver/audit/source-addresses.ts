/** Where a request came from: what proxies say, in their order, then the peer itself. */
import { isIP } from "node:net";
import type { ApiRequest } from "../../apimachinery/request.ts";

export function sourceAddresses({ headers, peer }: Pick<ApiRequest, "headers" | "peer">): string[] {
  const forwarded = (headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => isIP(part) !== 0);
  const real = (headers["x-real-ip"] ?? "").trim();
  const said = forwarded.length > 0 ? forwarded : isIP(real) !== 0 ? [real] : [];
  const own = peer.address.replace(/^::ffff:(?=\d+\.)/, "");
  return isIP(own) !== 0 && said.at(-1) !== own ? [...said, own] : said;
}
