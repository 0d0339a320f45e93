/** Formats of texts by name: `format.dns1123Label().validate(x)`. */
import { dns1035Name, isLabelValue, isQualifiedName, labelName, subdomainName } from "../../names.ts";
import { declare, memberOverload, overload } from "../check/declarations.ts";
import { closedStructType, listType, optionalType, stringType } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { ArrayList, OpaqueValue, Optional } from "../eval/values.ts";
import { parseRequestUri } from "./url-parser.ts";

export const formatType = closedStructType("kubernetes.NamedFormat");

interface Format {
  /** Faults of a text; none when it is of the format. */
  readonly validate: (text: string) => readonly string[];
  /** Length of the pattern behind it, for costs. */
  readonly patternSize: number;
}

export class FormatValue extends OpaqueValue {
  readonly format: Format;
  constructor(format: Format) {
    super();
    this.format = format;
  }
  override get typeName(): string {
    return formatType.name;
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && other.format === this.format;
  }
}

const formats: Readonly<Record<string, Format>> = {
  dns1123Label: { validate: (text) => labelName(text, false), patternSize: 30 },
  dns1123Subdomain: { validate: (text) => subdomainName(text, false), patternSize: 60 },
  dns1035Label: { validate: (text) => dns1035Name(text, false), patternSize: 30 },
  qualifiedName: { validate: isQualifiedName, patternSize: 60 },
  dns1123LabelPrefix: { validate: (text) => labelName(text, true), patternSize: 30 },
  dns1123SubdomainPrefix: { validate: (text) => subdomainName(text, true), patternSize: 60 },
  dns1035LabelPrefix: { validate: (text) => dns1035Name(text, true), patternSize: 30 },
  labelValue: { validate: isLabelValue, patternSize: 40 },
  uri: { validate: uriFaults, patternSize: 1104 },
  uuid: { validate: refuse("does not match the UUID format", isUuid), patternSize: 72 },
  byte: { validate: refuse("invalid base64", isBase64), patternSize: 84 },
  date: { validate: refuse("invalid date", isDate), patternSize: 72 },
  datetime: { validate: refuse("invalid datetime", isDateTime), patternSize: 72 },
};

const values = new Map(Object.entries(formats).map(([name, format]) => [name, new FormatValue(format)]));

export const formatLibrary: Library = {
  name: "format",
  types: new Map([[formatType.name, formatType]]),
  functions: [
    ...[...values].map(([name, value]) =>
      declare(
        `format.${name}`,
        overload(`format.${name}`, [], formatType, () => value),
      ),
    ),
    declare(
      "format.named",
      overload("format-named", [stringType], optionalType(formatType), (name) => new Optional(values.get(name as string))),
    ),
    declare(
      "validate",
      memberOverload("format-validate", [formatType, stringType], optionalType(listType(stringType)), (format, text) => {
        const faults = (format as FormatValue).format.validate(text as string);
        return faults.length === 0 ? Optional.none : new Optional(new ArrayList(faults));
      }),
    ),
  ],
};

function refuse(fault: string, isValid: (text: string) => boolean): Format["validate"] {
  return (text) => (isValid(text) ? [] : [fault]);
}

function uriFaults(text: string): string[] {
  const url = parseRequestUri(text);
  return typeof url === "string" ? [url] : [];
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text);
}

function isBase64(text: string): boolean {
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return date.getUTCMonth() === Number(match[2]) - 1 && date.getUTCDate() === Number(match[3]);
}

/** Offsets may be anything of four digits. */
function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})[tT](\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:[zZ]|[+-]\d{2}:\d{2})$/.exec(text);
  return match !== null && isDate(match[1]!) && Number(match[2]) < 24 && Number(match[3]) < 60 && Number(match[4]) < 60;
}
