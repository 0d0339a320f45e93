import { startPrograms } from "../host/index.ts";
import type { Programs } from "../host/index.ts";
import type { Environment } from "./environment.ts";

interface Shared {
  readonly programs: Programs;
  users: number;
}

const shared = new WeakMap<Environment, Shared>();

/** The process' one program server, made for the first component that needs it and ended when the last one lets go. */
export function borrowPrograms(environment: Environment): { readonly programs: Programs } & AsyncDisposable {
  let entry = shared.get(environment);
  if (entry === undefined) shared.set(environment, (entry = { programs: startPrograms({ clock: environment.clock }), users: 0 }));
  const held = entry;
  held.users += 1;
  let isHeld = true;
  return {
    programs: held.programs,
    async [Symbol.asyncDispose]() {
      if (!isHeld) return;
      isHeld = false;
      held.users -= 1;
      if (held.users > 0) return;
      shared.delete(environment);
      await held.programs.close();
    },
  };
}
