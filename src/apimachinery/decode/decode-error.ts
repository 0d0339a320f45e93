/** A body that cannot be read; the message is what Go's decoders print. */
export class DecodeError extends Error {
  override name = "DecodeError";
  /**
   * - `yaml`: no YAML; `syntax`: no JSON or no protobuf
   * - `version`: apiVersion or kind cannot be read
   * - `value`: a value does not fit its field
   */
  readonly reason: DecodeErrorReason;

  constructor(reason: DecodeErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
export type DecodeErrorReason = "yaml" | "syntax" | "version" | "value";

/** The text of an error that was met before apiVersion and kind were known, as `the object provided is unrecognized` goes on. */
export function unrecognizedText(error: DecodeError): string {
  return error.reason === "yaml" ? error.message : `couldn't get version/kind; json parse error: ${error.message}`;
}
