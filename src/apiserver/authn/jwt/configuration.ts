/** API type apiserver.config.k8s.io/v1 AuthenticationConfiguration, as far as the server reads it. */

export interface AuthenticationConfiguration {
  readonly jwt?: readonly JwtConfiguration[];
  readonly anonymous?: { readonly enabled?: boolean; readonly conditions?: readonly { readonly path: string }[] };
}

export interface JwtConfiguration {
  readonly issuer: {
    readonly url: string;
    /** Where the discovery document is, if not below `url`. */
    readonly discoveryURL?: string;
    /** PEM of who signed the issuer's certificate; the system's when absent. */
    readonly certificateAuthority?: string;
    readonly audiences: readonly string[];
    /** `MatchAny` where there are several audiences. */
    readonly audienceMatchPolicy?: string;
    /** Checked, not used: connections go out directly. */
    readonly egressSelectorType?: string;
  };
  readonly claimValidationRules?: readonly ({ readonly message?: string } & (ClaimRule | Expression))[];
  readonly claimMappings: {
    readonly username: ClaimMapping;
    readonly groups?: ClaimMapping;
    readonly uid?: { readonly claim?: string; readonly expression?: string };
    readonly extra?: readonly { readonly key: string; readonly valueExpression: string }[];
  };
  readonly userValidationRules?: readonly (Expression & { readonly message?: string })[];
  /** Those that count (RS256, …); absent: all. Only flags choose them. */
  readonly signingAlgorithms?: readonly string[];
}

export interface ClaimMapping {
  readonly claim?: string;
  readonly prefix?: string;
  readonly expression?: string;
}

interface ClaimRule {
  readonly claim?: string;
  readonly requiredValue?: string;
  readonly expression?: undefined;
}

interface Expression {
  readonly expression: string;
  readonly claim?: undefined;
}
