/** Calls to a key management plugin over gRPC on its Unix socket (service `v2.KeyManagementService`). Failures become KmsErrors here and nowhere else. */
import type { ServiceError } from "@grpc/grpc-js";
import { KmsError } from "../../apiserver/encryption/kms.ts";
import type { Annotations, KmsService } from "../../apiserver/encryption/kms.ts";
import { decode, encode } from "../../storage/etcd/wire.ts";
import type { Message } from "../../storage/etcd/wire.ts";

const annotations = [4, [{ key: [1, "string"], value: [2, "bytes"] }]] as const;

/** Messages of the service, by the numbers of their fields. */
export const kmsMessages = {
  StatusRequest: {},
  StatusResponse: { version: [1, "string"], healthz: [2, "string"], keyId: [3, "string"] },
  EncryptRequest: { plaintext: [1, "bytes"], uid: [2, "string"] },
  EncryptResponse: { ciphertext: [1, "bytes"], keyId: [2, "string"], annotations: [3, annotations[1]] },
  DecryptRequest: { ciphertext: [1, "bytes"], uid: [2, "string"], keyId: [3, "string"], annotations },
  DecryptResponse: { plaintext: [1, "bytes"] },
} as const satisfies Record<string, Message>;

type Pair = { readonly key: string; readonly value: Uint8Array };

export const toPairs = (map: Annotations): Pair[] => Object.entries(map).map(([key, value]) => ({ key, value }));
export const fromPairs = (pairs: readonly Pair[]): Annotations => Object.fromEntries(pairs.map(({ key, value }) => [key, value]));

/** `endpoint`: `unix:///path`. Calls that take longer than `timeoutMs` fail. */
export async function connectKms(endpoint: string, timeoutMs: number): Promise<KmsService> {
  const grpc = await import("@grpc/grpc-js");
  // (grpc-js reads `unix:` addresses itself; two slashes more or less mean the same.)
  const client = new grpc.Client(endpoint.replace(/^unix:\/\//, "unix:"), grpc.credentials.createInsecure());
  const call = <T>(method: "Status" | "Encrypt" | "Decrypt", request: object): Promise<T> => {
    const options = { deadline: new Date(Date.now() + timeoutMs) };
    const [asked, answered] = [kmsMessages[`${method}Request`], kmsMessages[`${method}Response`]];
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        `/v2.KeyManagementService/${method}`,
        (value: object) => encode(asked, value),
        (bytes) => decode(answered, bytes) as T,
        request,
        options,
        (error, response) => {
          if (error === null) resolve(response!);
          else reject(kmsError(error));
        },
      );
    });
  };
  return {
    status: () => call("Status", {}),
    async encrypt(request) {
      const { annotations: pairs, ...rest } = await call<{ ciphertext: Uint8Array; keyId: string; annotations: readonly Pair[] }>("Encrypt", request);
      return { ...rest, annotations: fromPairs(pairs) };
    },
    decrypt: ({ annotations: map, ...rest }) => call("Decrypt", { ...rest, annotations: toPairs(map) }),
    close: () => client.close(),
  };
}

/** gRPC's codes DEADLINE_EXCEEDED and UNAVAILABLE. */
const unreachable = new Set([4, 14]);

function kmsError(error: ServiceError): KmsError {
  return new KmsError(unreachable.has(error.code) ? "Unavailable" : "Refused", `rpc error: code = ${error.code} desc = ${error.details}`, error);
}
