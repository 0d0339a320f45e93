/** Conversion strategy Webhook: a server elsewhere turns objects of one version into another, many at once (documentation page "Versions in CustomResourceDefinitions"). */
import { newUid } from "../../../base/ids.ts";
import { sortedMembers } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import type { WebhookConversion } from "../../../api/apiextensions-v1/types.ts";
import type { ServerState } from "../../server-state.ts";
import { callWebhook } from "../../webhooks/webhook-client.ts";
import { WebhookError } from "../../webhooks/review-webhook.ts";
import { checkConverted } from "./check-converted.ts";
import { conversionReviewBody, conversionReviewVersion, readConversion } from "./review.ts";

/**
 * Objects of one kind and version in another version (`group/version`), in the same order; they come and go without a resourceVersion.
 * Rejects with a ConversionError.
 */
export type VersionConverter = (objects: readonly JsonObject[], apiVersion: string) => Promise<JsonObject[]>;

/** Objects that could not be converted; `index` is that of the first one at fault. */
export class ConversionError extends Error {
  override name = "ConversionError";
  readonly index: number;

  constructor(message: string, index: number, options?: ErrorOptions) {
    super(message, options);
    this.index = index;
  }
}

const timeoutMs = 30_000;

/** Calls end when `lifetime` aborts; a client that leaves does not end them, since others may wait for the same objects. */
export function webhookConverter(
  server: ServerState,
  { clientConfig = {}, conversionReviewVersions }: WebhookConversion,
  lifetime: AbortSignal,
): VersionConverter {
  return async (originals, apiVersion) => {
    const objects = originals.map(sortedMembers);
    const version = conversionReviewVersion(conversionReviewVersions);
    const name = `conversion webhook for ${typeText(objects[0]!)}`;
    if (version === undefined) throw new ConversionError(`${name} failed: no supported conversion review versions`, 0);
    const uid = newUid(server.random);
    let answers: JsonValue[];
    try {
      const body = conversionReviewBody({ version, uid, desiredApiVersion: apiVersion, objects });
      answers = readConversion(await callWebhook(server, clientConfig, { body, timeoutMs, signal: lifetime }), { version, uid });
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      throw new ConversionError(`${name} failed: ${error.message}`, 0, { cause: error });
    }
    if (answers.length !== objects.length) throw new ConversionError(`${name} returned ${answers.length} objects, expected ${objects.length}`, 0);
    return answers.map((answer, index) => {
      const checked = checkConverted(answer, { original: objects[index]!, index, apiVersion });
      if ("object" in checked) return checked.object;
      throw new ConversionError(checked.isWhole === true ? checked.fault : `${name} ${checked.fault}`, index);
    });
  };
}

/** `example.com/v1, Kind=Widget`. */
function typeText({ apiVersion, kind }: JsonObject): string {
  return `${String(apiVersion)}, Kind=${String(kind)}`;
}
