/** The ciphers with keys of one's own: AES-GCM (bound to the value's key in the store), AES-CBC and NaCl's secretbox (not bound). */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import type { Random } from "../../base/random.ts";
import { TransformError } from "./transformer.ts";
import type { Transformer } from "./transformer.ts";

const gcmNonceBytes = 12;
const gcmTagBytes = 16;

/** `nonce | ciphertext | tag`. `bound` is authenticated beside it. Throws TransformError. */
export function openGcm(secret: Uint8Array, value: Uint8Array, bound: Uint8Array): Buffer {
  if (value.length < gcmNonceBytes + gcmTagBytes) throw new TransformError("the stored data was shorter than the required size");
  const end = value.length - gcmTagBytes;
  const decipher = createDecipheriv(gcmName(secret), secret, value.subarray(0, gcmNonceBytes), { authTagLength: gcmTagBytes });
  decipher.setAAD(bound);
  decipher.setAuthTag(value.subarray(end));
  const plain = decipher.update(value.subarray(gcmNonceBytes, end));
  try {
    decipher.final();
  } catch (error) {
    throw new TransformError("cipher: message authentication failed", { cause: error });
  }
  return plain;
}

export function sealGcm(secret: Uint8Array, plain: Uint8Array, bound: Uint8Array, random: Random): Buffer {
  const nonce = random.bytes(gcmNonceBytes);
  const cipher = createCipheriv(gcmName(secret), secret, nonce, { authTagLength: gcmTagBytes });
  cipher.setAAD(bound);
  const sealed = cipher.update(plain);
  return Buffer.concat([nonce, sealed, cipher.final(), cipher.getAuthTag()]);
}

const gcmName = (secret: Uint8Array) => `aes-${secret.length * 8}-gcm` as "aes-256-gcm";

export function aesGcm(secret: Uint8Array, random: Random): Transformer {
  return {
    open: (value, key) => ({ plain: openGcm(secret, value, Buffer.from(key)), isStale: false }),
    seal: (plain, key) => sealGcm(secret, plain, Buffer.from(key), random),
  };
}

const blockBytes = 16;

/** `IV | ciphertext` with PKCS#7 padding: nothing says whether it was changed. */
export function aesCbc(secret: Uint8Array, random: Random): Transformer {
  const name = `aes-${secret.length * 8}-cbc`;
  return {
    open(value) {
      if (value.length < blockBytes) throw new TransformError("the stored data was shorter than the required size");
      if (value.length % blockBytes !== 0) throw new TransformError("the stored data is not a multiple of the block size");
      const decipher = createDecipheriv(name, secret, value.subarray(0, blockBytes));
      try {
        return { plain: Buffer.concat([decipher.update(value.subarray(blockBytes)), decipher.final()]), isStale: false };
      } catch (error) {
        throw new TransformError("invalid padding on input", { cause: error });
      }
    },
    seal(plain) {
      const iv = random.bytes(blockBytes);
      const cipher = createCipheriv(name, secret, iv);
      return Buffer.concat([iv, cipher.update(plain), cipher.final()]);
    },
  };
}

const boxNonceBytes = 24;

/** `nonce | tag | ciphertext`. */
export function secretbox(secret: Uint8Array, random: Random): Transformer {
  return {
    open(value) {
      if (value.length < boxNonceBytes) throw new TransformError("the stored data was shorter than the required size");
      try {
        return { plain: xsalsa20poly1305(secret, value.slice(0, boxNonceBytes)).decrypt(value.slice(boxNonceBytes)), isStale: false };
      } catch (error) {
        // (Upstream's words for a box that does not open.)
        throw new TransformError("output array was not large enough for encryption", { cause: error });
      }
    },
    seal(plain) {
      const nonce = random.bytes(boxNonceBytes);
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(Uint8Array.from(plain))]);
    },
  };
}
