/** Tokens from a file, one a line: `token,user,uid,"group1,group2"` (flag `token-auth-file`). */
import { createHash } from "node:crypto";
import type { UserInfo } from "../../apimachinery/request.ts";
import { forApiAudiences } from "./bearer-tokens.ts";
import type { TokenAuthenticator } from "./bearer-tokens.ts";

/** Throws an Error for a line without token, user and uid. */
export function staticTokens(text: string, apiAudiences: readonly string[]): TokenAuthenticator {
  // Looked up by digest: how long a lookup takes tells nothing about the tokens.
  const users = new Map<string, UserInfo>();
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [token = "", username = "", uid, groups = ""] = readCsv(line);
    if (uid === undefined) throw new Error(`token file must have at least 3 columns (token, user name, user uid), found ${readCsv(line).length}`);
    if (token === "") continue;
    users.set(digest(token), { username, ...(uid !== "" && { uid }), groups: groups === "" ? [] : groups.split(",") });
  }
  return forApiAudiences("static-token", apiAudiences, (token) => {
    const user = users.get(digest(token));
    return user && { user };
  });
}

const digest = (token: string) => createHash("sha256").update(token).digest("hex");

/** Fields of a line; a quoted one may hold commas, and quotes written twice. */
function readCsv(line: string): string[] {
  return [...line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? plain!.trimEnd() : quoted.replaceAll('""', '"'),
  );
}
