/** Image references, as registries' and containers' tools read them (distribution reference grammar). Pure. */

export type ParsedImageName =
  | {
      readonly isValid: true;
      readonly repository: string;
      readonly tag?: string;
      readonly digest?: string;
      /** With registry, and `latest` where nothing is said. */ readonly fullName: string;
    }
  /** `error` as the grammar's usual reader words it. */
  | { readonly isValid: false; readonly error: string };

export function parseImageName(text: string): ParsedImageName {
  if (/^[a-f0-9]{64}$/.test(text)) return invalid(`invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`);
  const [domain, rest] = splitDomain(text);
  const match = /^([^:@]*)(?::(\w[\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$/.exec(rest);
  const [, path = "", tag, digest] = match ?? [];
  if (path !== path.toLowerCase()) return invalid("invalid reference format: repository name must be lowercase");
  if (match === null || !pathPattern.test(path) || !domainPattern.test(domain)) return invalid("invalid reference format");
  const repository = `${domain}/${domain === "docker.io" && !path.includes("/") ? "library/" : ""}${path}`;
  if (repository.length - domain.length - 1 > 255) return invalid("repository name must not be more than 255 characters");
  const tagPart = tag !== undefined ? `:${tag}` : digest === undefined ? ":latest" : "";
  const fullName = `${repository}${tagPart}${digest === undefined ? "" : `@${digest}`}`;
  return { isValid: true, repository, fullName, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

const pathPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const domainPattern =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;

/** A first part with a dot, a colon or a capital, or `localhost`, is a registry; otherwise Docker's is meant. */
function splitDomain(text: string): [domain: string, rest: string] {
  const slash = text.indexOf("/");
  const first = slash < 0 ? "" : text.slice(0, slash);
  if (first === "" || (!/[.:]/.test(first) && first !== "localhost" && first === first.toLowerCase())) return ["docker.io", text];
  return [first === "index.docker.io" ? "docker.io" : first, text.slice(slash + 1)];
}

function invalid(error: string): ParsedImageName {
  return { isValid: false, error };
}
