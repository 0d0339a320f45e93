/** A container cannot be made as its spec asks: reason CreateContainerConfigError. */
export class ConfigError extends Error {
  override name = "ConfigError";
}
