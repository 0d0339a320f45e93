/** Rules of how objects pass between versions; paths are those of upstream's older, flat form. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import { forbidden, invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { validateWebhookClient } from "../meta/webhook-client.ts";
import { validateLabel } from "./names.ts";
import type { CustomResourceConversion } from "./types.ts";

const strategies = ["None", "Webhook"];
const reviewVersions = ["v1", "v1beta1"];

export function validateConversion(conversion: CustomResourceConversion, old: CustomResourceConversion | undefined, path: FieldPath): FieldError[] {
  const { strategy = "", webhook } = conversion;
  const clientPath = path.child("webhookClientConfig");
  const versionsPath = path.child("conversionReviewVersions");
  const errors =
    strategy === "" ? [required(path.child("strategy"))] : strategies.includes(strategy) ? [] : [notSupported(path.child("strategy"), strategy, strategies)];
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== "Webhook") {
    const text = "should not be set when strategy is not set to Webhook";
    if (webhook?.clientConfig !== undefined) errors.push(forbidden(clientPath, text));
    if (versions.length > 0) errors.push(forbidden(versionsPath, text));
    return errors;
  }
  if (webhook?.clientConfig === undefined) errors.push(required(clientPath, "required when strategy is set to Webhook"));
  else errors.push(...validateWebhookClient(webhook.clientConfig, clientPath));
  const oldVersions = old?.webhook?.conversionReviewVersions ?? [];
  const allowsUnknown = oldVersions.length > 0 && !oldVersions.some((version) => reviewVersions.includes(version));
  return [...errors, ...validateReviewVersions(versions, allowsUnknown, versionsPath)];
}

function validateReviewVersions(versions: readonly string[], allowsUnknown: boolean, path: FieldPath): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const seen = new Set<string>();
  const errors = versions.flatMap((version, index) => {
    if (seen.has(version)) return [invalid(path.index(index), version, "duplicate version")];
    seen.add(version);
    return validateLabel(version, path.index(index));
  });
  const hasKnown = versions.some((version) => reviewVersions.includes(version));
  return hasKnown || allowsUnknown ? errors : [...errors, invalid(path, versions, `must include at least one of ${reviewVersions.join(", ")}`)];
}
