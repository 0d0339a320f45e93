import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../../base/log.ts";
import { seededRandom } from "../../../base/random.ts";
import { VirtualClock, loopTurn } from "../../../base/virtual-clock.ts";
import { Certificates } from "../../certificates/certificates.ts";
import { keysInMemory } from "../../certificates/key-store.ts";
import { parseArguments } from "../../commands/arguments.ts";
import { readUpOptions, upOptionTable } from "../../commands/up-options.ts";
import { startApiServer } from "./apiserver.ts";

interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
}

const newKey = (id: string): SigningKey => ({ id, key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey });

/** An issuer of tokens as OpenID Connect Discovery describes them, two of them on one server, whose keys may be exchanged. */
class Issuers implements AsyncDisposable {
  readonly #server: ReturnType<typeof createServer>;
  readonly keys: Record<string, readonly SigningKey[]> = { one: [newKey("a")], two: [newKey("b")] };

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
  }

  static async start(certificates: Certificates): Promise<Issuers> {
    const { key, certificate } = await certificates.serving("issuer", ["127.0.0.1"]);
    const server = createServer({ key, cert: certificate });
    const issuers = new Issuers(server);
    server.on("request", ({ url = "" }, response) => response.end(JSON.stringify(issuers.#document(url))));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return issuers;
  }

  url(name: string): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
  }

  token(name: string, claims: object, key = this.keys[name]!.at(-1)!): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${part({ alg: "ES256", kid: key.id })}.${part({ iss: this.url(name), aud: "app", exp: 4_000_000_000, ...claims })}`;
    return `${signed}.${sign("sha256", Buffer.from(signed), { key: key.key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  }

  #document(path: string): object {
    const [, name = "", ...rest] = path.split("/");
    if (rest[0] === ".well-known") return { issuer: this.url(name), jwks_uri: `${this.url(name)}/keys` };
    return { keys: this.keys[name]!.map(({ id, key }) => ({ ...createPublicKey(key).export({ format: "jwk" }), kid: id, use: "sig" })) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

test("token issuers: two over HTTPS, claims by CEL, keys that are exchanged, a configuration that is read again", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "issuer-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const clock = new VirtualClock();
  const certificates = new Certificates(keysInMemory(), clock);
  const issuers = stack.use(await Issuers.start(certificates));
  const certificateAuthority = await certificates.authority();
  const jwt = (name: string, prefix: string) => ({
    issuer: { url: issuers.url(name), audiences: ["app"], certificateAuthority },
    claimMappings: { username: { expression: `'${prefix}' + claims.sub` }, groups: { expression: "claims.roles.map(role, 'team:' + role)" } },
    claimValidationRules: [{ expression: "claims.hd == 'example.com'", message: "another company" }],
    userValidationRules: [{ expression: "!user.username.startsWith('one:system:')", message: "reserved" }],
  });
  const file = join(folder, "authentication");
  const configure = async (...issuersOf: object[]) => {
    await writeFile(`${file}.new`, JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration", jwt: issuersOf }));
    await rename(`${file}.new`, file);
  };
  await configure(jwt("one", "one:"), jwt("two", "two:"));
  const words = [
    `--data-dir=${folder}/data`,
    "--store=memory",
    "--port=0",
    "--bind-address=127.0.0.1",
    "--components=apiserver",
    `--apiserver.authentication-config=${file}`,
  ];
  const environment = { clock, random: seededRandom(1), log: silentLog, setVerbosity() {} };
  const { server } = stack.use(await startApiServer(environment, readUpOptions(parseArguments(words, upOptionTable)), certificates));
  const who = async (token: string) => {
    const { status, body } = await server.handle({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      query: "",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" })),
      peer: { address: "127.0.0.1", isHttp2: true },
      signal: new AbortController().signal,
    });
    if (status !== 201 || body.kind !== "bytes") return status;
    const { username, groups } = (JSON.parse(Buffer.from(body.bytes).toString()) as { status: { userInfo: { username: string; groups: string[] } } }).status
      .userInfo;
    return [username, ...groups];
  };
  const good = { sub: "ann", hd: "example.com", roles: ["a", "b"] };
  /** Issuers are asked in the background. */
  const until = async (isReached: () => Promise<boolean>) => {
    for (let turn = 0; turn < 10_000; turn++) {
      if (await isReached()) return;
      await loopTurn();
    }
    throw new Error("it did not come to that");
  };
  for (const name of ["one", "two"]) await until(async () => (await who(issuers.token(name, good))) !== 401);
  deepEqual(await who(issuers.token("one", good)), ["one:ann", "team:a", "team:b", "system:authenticated"]);
  deepEqual(await who(issuers.token("two", good)), ["two:ann", "team:a", "team:b", "system:authenticated"]);
  equal(await who(issuers.token("one", { ...good, hd: "example.org" })), 401);
  equal(await who(issuers.token("one", { ...good, sub: "system:admin" })), 401);
  equal(await who(issuers.token("one", { ...good, aud: "other" })), 401);

  const [old, next] = [issuers.keys["one"]![0]!, newKey("c")];
  issuers.keys["one"] = [next];
  await clock.advance(10_000);
  equal(await who(issuers.token("one", good)), 401, "a key that nobody knows yet");
  await until(async () => (await who(issuers.token("one", good))) !== 401);
  deepEqual(await who(issuers.token("one", good)), ["one:ann", "team:a", "team:b", "system:authenticated"]);
  equal(await who(issuers.token("one", good, old)), 401, "a key that was taken away");
  equal(await who(issuers.token("one", good, issuers.keys["two"]![0])), 401, "the key of another issuer");

  await configure(jwt("one", "first:"));
  await until(async () => JSON.stringify(await who(issuers.token("one", good))).includes("first:ann"));
  deepEqual(await who(issuers.token("one", good)), ["first:ann", "team:a", "team:b", "system:authenticated"]);
  equal(await who(issuers.token("two", good)), 401, "an issuer that is not trusted any more");
});
