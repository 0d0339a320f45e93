/** A configuration that cannot be used. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";
  readonly reason = "BadConfiguration";
}
