/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // Timers of ours do not keep the process alive; this one does, until a signal comes.
    const keepAlive = setInterval(() => {}, 2 ** 30);
    let isStopping = false;
    const onSignal = (name: NodeJS.Signals) => {
      if (isStopping) process.exit(1);
      isStopping = true;
      clearInterval(keepAlive);
      resolve(name);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}
