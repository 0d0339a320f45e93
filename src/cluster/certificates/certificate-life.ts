/** When a certificate begins and ends, and when its successor is due. */
import { X509Certificate } from "node:crypto";

export interface CertificateLife {
  readonly startMs: number;
  readonly endMs: number;
  /** When 80 % of its life are over. */
  readonly dueMs: number;
}

const renewalPart = 0.8;

/** Of the first certificate in a PEM. Throws when it is none. */
export function lifeOf(pem: string): CertificateLife {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  const [startMs, endMs] = [validFromDate.getTime(), validToDate.getTime()];
  return { startMs, endMs, dueMs: startMs + (endMs - startMs) * renewalPart };
}

export function isDue(pem: string, nowMs: number): boolean {
  return nowMs >= lifeOf(pem).dueMs;
}
