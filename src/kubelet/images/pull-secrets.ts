/** Credentials for an image's registry from `imagePullSecrets` (types kubernetes.io/dockerconfigjson and dockercfg). Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Secret } from "../../api/core-v1/types.ts";
import type { AuthConfig } from "../runtime/cri-messages.ts";

/** What a registry is told, and the secret that said so; programs of the node have none. */
export interface PullCredential {
  readonly auth: AuthConfig;
  readonly secret?: SecretPlace;
}

export interface SecretPlace {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** `repository`: with its registry, such as `registry.example.com/team/app`. */
export function pullCredentials(secrets: readonly DeepReadonly<Secret>[], repository: string): PullCredential[] {
  const found: PullCredential[] = [];
  for (const secret of secrets) {
    for (const [location, entry] of Object.entries(registriesOf(secret))) {
      if (!matchesRepository(location, repository)) continue;
      const [username = "", password = ""] =
        entry.auth === undefined ? [entry.username, entry.password] : splitOnce(Buffer.from(entry.auth, "base64").toString("utf8"));
      const { uid = "", namespace = "", name = "" } = secret.metadata;
      found.push({
        auth: {
          username,
          password,
          ...(entry.identitytoken !== undefined && { identity_token: entry.identitytoken }),
          ...(entry.registrytoken !== undefined && { registry_token: entry.registrytoken }),
        },
        secret: { uid, namespace, name },
      });
    }
  }
  return found;
}

interface Entry {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly identitytoken?: string;
  readonly registrytoken?: string;
}

function registriesOf({ data = {} }: DeepReadonly<Secret>): Readonly<Record<string, Entry>> {
  const [config, old] = [data[".dockerconfigjson"], data[".dockercfg"]];
  const text = config ?? old;
  if (text === undefined) return {};
  try {
    const parsed = JSON.parse(Buffer.from(text, "base64").toString("utf8")) as { auths?: Record<string, Entry> } & Record<string, Entry>;
    return (config === undefined ? parsed : parsed.auths) ?? {};
  } catch {
    return {}; // an unreadable secret gives no credentials, as without it
  }
}

/** The location's host may have `*` for a part; its path must begin the repository's. */
export function matchesRepository(location: string, repository: string): boolean {
  const plain = location.replace(/^https?:\/\//, "").replace(/\/(v1|v2)?\/?$/, "");
  const [host = "", ...path] = plain.split("/");
  const [wantedHost = "", ...wantedPath] = repository.split("/");
  const isDocker = (name: string) => name === "docker.io" || name === "index.docker.io";
  const parts = host.split(".");
  const wantedParts = wantedHost.split(".");
  const isHost =
    (isDocker(host) && isDocker(wantedHost)) || (parts.length === wantedParts.length && parts.every((part, index) => globMatches(part, wantedParts[index]!)));
  return isHost && path.every((part, index) => part === wantedPath[index]);
}

function globMatches(pattern: string, text: string): boolean {
  return new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`).test(text);
}

function splitOnce(text: string): [string, string] {
  const colon = text.indexOf(":");
  return colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
}
