/** Printing what happened when a test fails, whichever runner runs it. */

/** What a test runner hands to a test: `node:test`'s context, vitest's, or anything with such a hook. */
export interface TestHooks {
  /** Called when the test has ended; `passed` is known by then (node:test). */
  after?(hook: () => void): void;
  readonly passed?: boolean;
  /** Called when the test has failed (vitest). */
  onTestFailed?(hook: () => void): void;
}

/** Has `print` called when the test fails. Without `test`, the one that `node:test` is running, if it is (Node ≥ 26). */
export async function onFailure(test: TestHooks | undefined, print: () => void): Promise<void> {
  const hooks = test ?? (await runningTest());
  if (hooks?.onTestFailed !== undefined) hooks.onTestFailed(print);
  else hooks?.after?.(() => (hooks.passed === false ? print() : undefined));
}

async function runningTest(): Promise<TestHooks | undefined> {
  // Under another runner the module is there, and knows of no test.
  const { getTestContext } = (await import("node:test")) as { getTestContext?: () => TestHooks | undefined };
  return getTestContext?.();
}
