/** The libraries of Kubernetes' environments. Which place has which follows from what a real server of 1.37 takes. */
import { createEnvironment } from "./environment.ts";
import type { Environment, Library } from "./environment.ts";
import { homogeneousLiterals, readableLiteral } from "./check/literal-rules.ts";
import type { LiteralRule } from "./check/literal-rules.ts";
import { toDuration, toTimestamp } from "./eval/conversions.ts";
import { authorizationLibrary } from "./library/authorization.ts";
import { bindingsLibrary } from "./library/bindings.ts";
import { extendedListsLibrary } from "./library/extended-lists.ts";
import { cidrLibrary, ipLibrary } from "./library/ip-addresses.ts";
import { jsonPatchLibrary } from "./library/json-patch.ts";
import { kubernetesCosts } from "./library/kubernetes-costs.ts";
import { listsLibrary } from "./library/lists.ts";
import { formatLibrary } from "./library/named-formats.ts";
import { optionalLibrary } from "./library/optionals.ts";
import { compilePattern } from "./library/patterns.ts";
import { quantityLibrary } from "./library/quantities.ts";
import { regexLibrary } from "./library/regex.ts";
import { semverLibrary } from "./library/semver.ts";
import { setsLibrary } from "./library/sets.ts";
import { stringsLibrary } from "./library/strings.ts";
import { twoVariableLibrary } from "./library/two-variables.ts";
import { urlsLibrary } from "./library/urls.ts";

/** Rules on literals, in the order in which their faults are found. */
const literalRules: readonly LiteralRule[] = [
  homogeneousLiterals,
  readableLiteral("duration", "invalid duration argument", toDuration),
  readableLiteral("timestamp", "invalid timestamp argument", toTimestamp),
  readableLiteral("matches", "invalid matches argument", (value) => (typeof value === "string" ? compilePattern(value) : value)),
];

/** What all of Kubernetes' environments have. */
export const baseLibraries: readonly Library[] = [
  { name: "literals", literalRules },
  urlsLibrary,
  regexLibrary,
  authorizationLibrary,
  optionalLibrary,
  quantityLibrary,
  stringsLibrary,
  // After the texts: of overloads that a free type could mean, the first one counts.
  listsLibrary,
  setsLibrary,
  ipLibrary,
  cidrLibrary,
  formatLibrary,
  twoVariableLibrary,
  semverLibrary,
  extendedListsLibrary,
  kubernetesCosts,
];

/** Rules of custom resources, validating policies, match conditions, and the configuration of authentication and authorization. */
export const baseEnvironment: Environment = createEnvironment({ libraries: baseLibraries });
/** Mutating policies: JSON patches besides. */
export const mutationEnvironment: Environment = createEnvironment({ libraries: [...baseLibraries, jsonPatchLibrary] });
/** Selectors of devices: `cel.bind` besides. */
export const deviceEnvironment: Environment = createEnvironment({ libraries: [...baseLibraries, bindingsLibrary] });
