/** CEL as Kubernetes has it: environments, compiling, evaluating, costs. */
export { baseEnvironment, baseLibraries, deviceEnvironment, mutationEnvironment } from "./kubernetes.ts";
export { createEnvironment } from "./environment.ts";
export type { Environment, EnvironmentFeatures, EnvironmentOptions, Library } from "./environment.ts";
export { activationOf, compile, evaluate, mentions, perCallLimit } from "./program.ts";
export type { Compilation, Evaluation, EvaluateOptions, Program } from "./program.ts";
export type { Activation } from "./eval/frame.ts";
export { estimateCost } from "./cost/estimate.ts";
export type { CostNode, SizeOf } from "./cost/estimate.ts";
export type { Range } from "./cost/ranges.ts";
export {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  formatType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  runtimeTypeName,
  stringType,
  timestampType,
  uintType,
} from "./check/types.ts";
export type { CelType, StructType } from "./check/types.ts";
export { structuralType } from "./schema/structural-types.ts";
export type { StructuralSchema } from "./schema/structural-types.ts";
export { builtInType } from "./schema/built-in-types.ts";
export { maxRequestBytes, sizeOfDeclared } from "./schema/declared-type.ts";
export type { DeclaredType } from "./schema/declared-type.ts";
export { escapePropertyName } from "./schema/property-names.ts";
export {
  accessReviewType,
  admissionRequestType,
  admissionVariables,
  claimsVariables,
  deviceType,
  namespaceType,
  objectLiteralType,
  policyVariablesType,
  structOf,
  userInfoType,
  userVariables,
} from "./schema/variable-types.ts";
export { AuthorizerValue, ResourceCheckValue } from "./library/authorization.ts";
export type { CelAuthorizationAttributes, CelAuthorizer, CelDecision, CelResourceAttributes } from "./library/authorization.ts";
export { jsonPatchType } from "./library/json-patch.ts";
export { QuantityValue } from "./library/quantities.ts";
export { SemverValue, toSemver } from "./library/semver.ts";
export { fromJson } from "./eval/json-values.ts";
export { toJson } from "./eval/to-json.ts";
export { isEqual } from "./eval/compare.ts";
export {
  ArrayList,
  CelError,
  Double,
  Duration,
  isCelError,
  ListValue,
  mapOf,
  MapValue,
  ObjectValue,
  OpaqueValue,
  Optional,
  Timestamp,
  typeNameOf,
  TypeValue,
  Uint,
} from "./eval/values.ts";
export type { Int, Value } from "./eval/values.ts";
export { parse } from "./syntax/parser.ts";
export { qualifiedName } from "./syntax/ast.ts";
export type { Expr } from "./syntax/ast.ts";
export { formatIssues } from "./source.ts";
