/**
 * Rules of ours that oxlint does not have, as a plugin of it.
 * - `coracle/no-ambient`: time, randomness and ids come through options (`Clock`, `Random`), never from the machine; that is what makes a whole
 *   cluster run on a virtual clock, repeatably from a seed.
 * - `coracle/file-name`: files are kebab-case and named after what they export.
 */

/** The parts of a syntax node that the rules read. */
interface Node {
  readonly type: string;
  readonly name?: string;
  readonly computed?: boolean;
  readonly arguments?: readonly Node[];
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly source?: { readonly value: string };
  readonly specifiers?: readonly { readonly imported?: Node }[];
  readonly parent?: Node;
  readonly key?: Node;
}
interface Context {
  readonly filename: string;
  report(finding: { node: Node; message: string }): void;
}

const bannedGlobals = new Set(["setTimeout", "setInterval", "setImmediate"]);
const bannedMembers: Readonly<Record<string, readonly string[]>> = {
  Date: ["now"],
  performance: ["now"],
  process: ["hrtime"],
  Math: ["random"],
  crypto: ["randomUUID", "getRandomValues"],
  AbortSignal: ["timeout"],
  Temporal: ["Now"],
};
const bannedModules = new Set(["timers", "timers/promises"]);
const bannedFromCrypto = new Set(["randomUUID", "randomBytes", "randomInt", "randomFill", "randomFillSync", "getRandomValues"]);

const noAmbient = {
  create(context: Context) {
    const report = (node: Node, what: string) =>
      context.report({ node, message: `${what} is not repeatable: take a Clock or Random (src/base) as an option.` });
    return {
      MemberExpression(node: Node) {
        const object = node.object?.name ?? "";
        const owner = object === "globalThis" ? "globalThis" : object;
        const property = node.property?.name ?? "";
        if (node.computed !== true && Object.hasOwn(bannedMembers, owner) && bannedMembers[owner]!.includes(property)) report(node, `${owner}.${property}`);
        if (owner === "globalThis" && bannedGlobals.has(property)) report(node, `globalThis.${property}`);
      },
      CallExpression(node: Node) {
        const name = node.callee?.name ?? "";
        if (bannedGlobals.has(name)) report(node, name);
        if (name === "Date") report(node, "Date()");
      },
      NewExpression(node: Node) {
        if (node.callee?.name === "Date" && node.arguments?.length === 0) report(node, "new Date()");
      },
      ImportDeclaration(node: Node) {
        const module = node.source?.value.replace(/^node:/, "") ?? "";
        if (bannedModules.has(module)) report(node, `node:${module}`);
        if (module !== "crypto") return;
        for (const { imported } of node.specifiers ?? [])
          if (imported?.name !== undefined && bannedFromCrypto.has(imported.name)) report(node, `${imported.name} of node:crypto`);
      },
    };
  },
};

const fileName = {
  create(context: Context) {
    return {
      Program(node: Node) {
        const name = context.filename.split(/[/\\]/).at(-1) ?? "";
        if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/.test(name)) context.report({ node, message: `File names are kebab-case: ${name}.` });
        if (/^(utils?|helpers?|common|misc)\./.test(name)) context.report({ node, message: `Name a file after what it exports, not ${name}.` });
      },
    };
  },
};

const plugin = { meta: { name: "coracle" }, rules: { "no-ambient": noAmbient, "file-name": fileName } };
export default plugin;
