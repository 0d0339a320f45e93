/** Semantic versions 2.0.0. */
import { declare, memberOverload, overload } from "../check/declarations.ts";
import type { Overload } from "../check/declarations.ts";
import { boolType, closedStructType, intType, stringType } from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { compareTexts } from "../eval/compare.ts";
import { CelError, normalizeInt, OpaqueValue } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";

export const semverType = closedStructType("kubernetes.Semver");

interface Version {
  readonly numbers: readonly bigint[];
  readonly prerelease: ReadonlyArray<bigint | string>;
}

export class SemverValue extends OpaqueValue {
  readonly version: Version;
  constructor(version: Version) {
    super();
    this.version = version;
  }
  override get typeName(): string {
    return semverType.name;
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && compareVersions(this.version, other.version) === 0;
  }
}

const pair = [semverType, semverType];

export const semverLibrary: Library = {
  name: "semver",
  types: new Map([[semverType.name, semverType]]),
  functions: [
    declare("semver", ...withNormalization("string_to_semver", semverType, (text) => toSemver(text))),
    declare("isSemver", ...withNormalization("is_semver_string", boolType, (text) => toSemver(text) instanceof SemverValue)),
    declare(
      "isGreaterThan",
      memberOverload("semver_is_greater_than", pair, boolType, (left, right) => order(left, right) > 0),
    ),
    declare(
      "isLessThan",
      memberOverload("semver_is_less_than", pair, boolType, (left, right) => order(left, right) < 0),
    ),
    declare("compareTo", memberOverload("semver_compare_to", pair, intType, order)),
    ...["major", "minor", "patch"].map((name, index) =>
      declare(
        name,
        memberOverload(`semver_${name}`, [semverType], intType, (value) => normalizeInt(BigInt.asIntN(64, (value as SemverValue).version.numbers[index]!))),
      ),
    ),
  ],
};

function withNormalization(id: string, result: CelType, convert: (text: string) => Value): Overload[] {
  return [
    overload(id, [stringType], result, (text) => convert(text as string)),
    overload(`${id}_bool`, [stringType, boolType], result, (text, isNormalized) =>
      convert(isNormalized === true ? normalize(text as string) : (text as string)),
    ),
  ];
}

/** `v1.2` → `1.2.0`; leading zeros go. */
function normalize(text: string): string {
  const parts = text.replace(/^v/, "").split(".");
  const split = [...parts.slice(0, 2), ...(parts.length > 2 ? [parts.slice(2).join(".")] : [])];
  const numbers = split.map((part) => (part.length > 1 ? part.replace(/^0+/, "").replace(/^(?!\d)/, "0") : part));
  while (numbers.length < 3) numbers.push("0");
  return numbers.join(".");
}

const numberNames = ["Major", "Minor", "Patch"] as const;

/** The version that a text spells, or an error. */
export function toSemver(text: string): Value {
  if (text === "") return new CelError("Version string empty");
  const parts = splitParts(text);
  if (parts.length !== 3) return new CelError("No Major.Minor.Patch elements found");
  const [, patch = "", rest = ""] = /^([^+-]*)(.*)$/s.exec(parts[2]!) ?? [];
  const numbers: bigint[] = [];
  for (const [index, part] of [parts[0]!, parts[1]!, patch].entries()) {
    const number = parseNumber(part, numberNames[index]!);
    if (number instanceof CelError) return number;
    numbers.push(number);
  }
  const plus = rest.indexOf("+");
  const prereleaseText = rest.startsWith("-") ? rest.slice(1, plus < 0 ? undefined : plus) : undefined;
  const prerelease = prereleaseText === undefined ? [] : parsePrerelease(prereleaseText);
  if (prerelease instanceof CelError) return prerelease;
  const buildFault =
    plus < 0
      ? undefined
      : rest
          .slice(plus + 1)
          .split(".")
          .map(faultOfBuild)
          .find((fault) => fault !== undefined);
  return buildFault ?? new SemverValue({ numbers, prerelease });
}

/** At most three parts. */
function splitParts(text: string): string[] {
  const parts = text.split(".");
  return parts.length <= 3 ? parts : [parts[0]!, parts[1]!, parts.slice(2).join(".")];
}

function parseNumber(part: string, name: (typeof numberNames)[number]): bigint | CelError {
  if (!/^\d*$/.test(part)) return new CelError(`Invalid character(s) found in ${name.toLowerCase()} number ${JSON.stringify(part)}`);
  if (part.length > 1 && part.startsWith("0")) return new CelError(`${name} number must not contain leading zeroes ${JSON.stringify(part)}`);
  return parseUnsigned(part);
}

function parseUnsigned(digits: string): bigint | CelError {
  const fault = (reason: string) => new CelError(`strconv.ParseUint: parsing ${JSON.stringify(digits)}: ${reason}`);
  if (digits === "") return fault("invalid syntax");
  const value = BigInt(digits);
  return value < 2n ** 64n ? value : fault("value out of range");
}

function parsePrerelease(text: string): Array<bigint | string> | CelError {
  const parsed: Array<bigint | string> = [];
  for (const part of text.split(".")) {
    if (part === "") return new CelError("Prerelease is empty");
    if (/^\d+$/.test(part)) {
      if (part.length > 1 && part.startsWith("0")) return new CelError(`Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`);
      const number = parseUnsigned(part);
      if (number instanceof CelError) return number;
      parsed.push(number);
    } else if (/^[A-Za-z0-9-]+$/.test(part)) parsed.push(part);
    else return new CelError(`Invalid character(s) found in prerelease ${JSON.stringify(part)}`);
  }
  return parsed;
}

function faultOfBuild(part: string): CelError | undefined {
  if (part === "") return new CelError("Build meta data is empty");
  return /^[A-Za-z0-9-]+$/.test(part) ? undefined : new CelError(`Invalid character(s) found in build meta data ${JSON.stringify(part)}`);
}

function order(left: Value, right: Value): number {
  return compareVersions((left as SemverValue).version, (right as SemverValue).version);
}

function compareVersions(left: Version, right: Version): number {
  for (const [index, number] of left.numbers.entries()) {
    const other = right.numbers[index]!;
    if (number !== other) return number > other ? 1 : -1;
  }
  const [a, b] = [left.prerelease, right.prerelease];
  if (a.length === 0 || b.length === 0) return Math.sign(b.length - a.length);
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = comparePrerelease(a[index]!, b[index]!);
    if (difference !== 0) return difference;
  }
  return Math.sign(a.length - b.length);
}

/** Numbers come before texts. */
function comparePrerelease(left: bigint | string, right: bigint | string): number {
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  if (typeof left !== typeof right) return typeof left === "bigint" ? -1 : 1;
  return left === right ? 0 : left > right ? 1 : -1;
}
