/**
 * Why a patch was refused. The caller answers by `kind`:
 * - `badRequest`: 400 BadRequest with the message
 * - `unprocessable`: 422 Invalid with the server's generic text ("the server rejected our request due to an error in our request"); the
 *   message is for the log
 * - `tooLarge`: 413 RequestEntityTooLarge, "Request entity too large: " and the message
 * - `failure`: 500 with the message and no reason
 */
export class PatchError extends Error {
  override name = "PatchError";
  readonly reason = "BadPatch";
  readonly kind: PatchErrorKind;

  constructor(kind: PatchErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type PatchErrorKind = "badRequest" | "unprocessable" | "tooLarge" | "failure";
