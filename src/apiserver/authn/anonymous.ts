/** Which requests without credentials are let in at all (KEP-4633). */

export interface AnonymousChoice {
  readonly isEnabled: boolean;
  /** Exact paths; absent: every path. */
  readonly paths?: readonly string[];
}

export function allowsAnonymous({ isEnabled, paths }: AnonymousChoice, path: string): boolean {
  return isEnabled && (paths === undefined || paths.includes(path));
}
