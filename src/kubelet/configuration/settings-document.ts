/** The settings as a KubeletConfiguration shows them, under `/configz`. Pure. */
import { quantityOf } from "../../apimachinery/quantity.ts";
import { formatDuration } from "../../apimachinery/go/go-duration.ts";
import { sources } from "./read-settings.ts";
import type { KubeletSettings } from "./settings.ts";

export function settingsDocument(settings: KubeletSettings): Record<string, unknown> {
  const document: Record<string, unknown> = {};
  for (const [name, [field, kind]] of Object.entries(sources)) {
    const value = settings[name as keyof KubeletSettings];
    if (value === undefined || value === "" || (typeof value === "object" && Object.keys(value).length === 0)) continue;
    if (kind === "duration") document[field] = formatDuration(value as number);
    else document[field] = kind === "bytes" ? quantityOf(value as number, "binarySI").text : value;
  }
  return document;
}
