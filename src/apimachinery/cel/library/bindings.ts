/** `cel.bind(name, value, expression)`: a name for a value, evaluated once. Device selectors have it. */
import type { Library } from "../environment.ts";
import { MacroFault, Nodes } from "../syntax/macros.ts";

export const bindingsLibrary: Library = {
  name: "bindings",
  macros: [
    {
      name: "bind",
      isMember: true,
      argCount: 3,
      expand({ at, target, args: [variable, value, result] }) {
        if (target?.kind !== "ident" || target.name !== "cel") return undefined;
        if (variable!.kind !== "ident") throw new MacroFault(variable!.at, "cel.bind() variable names must be simple identifiers");
        return new Nodes(at).bind(variable!.name, value!, result!);
      },
    },
  ],
};
