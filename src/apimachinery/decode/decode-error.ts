/** A body that cannot be read; the message is what Go's decoders print. */
export class DecodeError extends Error {
  override name = "DecodeError";
  /**
   * - `syntax`: no JSON, YAML or protobuf at all; - `version`: apiVersion or kind cannot be read; - `value`: a value does not fit its field
   */
  readonly reason: DecodeErrorReason;

  constructor(reason: DecodeErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
export type DecodeErrorReason = "syntax" | "version" | "value";
