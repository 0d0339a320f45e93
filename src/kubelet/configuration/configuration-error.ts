/** The kubelet was told something it cannot do; the message names the field, the flag or the file. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";
  readonly reason = "InvalidConfiguration";
}
