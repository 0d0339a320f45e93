/**
 * `npm run reference`: docs/reference/NAME.md for each entry of package.json's exports, with the signature and the docstring of every exported
 * name, as TypeScript reads the sources. Exits 1 when a name has no docstring.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SyntaxKind } from "typescript/unstable/ast";
import {
  isAsExpression,
  isClassDeclaration,
  isFunctionDeclaration,
  isInterfaceDeclaration,
  isObjectLiteralExpression,
  isPropertyDeclaration,
  isSatisfiesExpression,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import type { ClassDeclaration, ClassElement, InterfaceDeclaration, Node, SignatureDeclaration, VariableDeclaration } from "typescript/unstable/ast";
import { API, NodeBuilderFlags } from "typescript/unstable/sync";
import type { Project, Symbol } from "typescript/unstable/sync";

const root = path.dirname(import.meta.dirname);
const typeFlags = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.UseAliasDefinedOutsideCurrentScope;

export interface ReferencePage {
  /** From the root of the repository. */
  readonly file: string;
  readonly text: string;
  /** Exported names that have no docstring. */
  readonly undocumented: readonly string[];
}

/** The pages as the sources give them. Takes a few seconds: the compiler reads every source that the entries lead to. */
export function referencePages(): ReferencePage[] {
  const api = new API({ cwd: root });
  try {
    const config = path.join(root, "tsconfig.package.json");
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`the compiler has no project ${config}`);
    return entries().map(([name, source]) => new PageReader(project).page(name, source));
  } finally {
    api.close();
  }
}

/** Names of the exports, such as `operator`, each with its source. */
function entries(): [name: string, source: string][] {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { exports: Record<string, string | Record<string, string>> };
  return Object.entries(exports).flatMap(([name, targets]) => {
    const source = typeof targets === "string" ? undefined : targets["coracle-source"];
    return source === undefined ? [] : [[path.basename(name), source] as [string, string]];
  });
}

class PageReader {
  readonly #project: Project;
  readonly #exported = new Set<number>();

  constructor(project: Project) {
    this.#project = project;
  }

  page(name: string, source: string): ReferencePage {
    const { program, checker } = this.#project;
    const entry = program.getSourceFile(path.join(root, source));
    const module = entry && checker.getSymbolAtLocation(entry);
    if (entry === undefined || module === undefined) throw new Error(`${source} exports nothing`);
    const names = checker.getExportsOfModule(module).map((alias) => ({ name: alias.name, symbol: checker.getAliasedSymbol(alias) }));
    for (const { symbol } of names) this.#exported.add(symbol.id);
    const own = names.filter(({ symbol }) => !this.#isKind(symbol));
    const kinds = names.filter(({ symbol }) => this.#isKind(symbol)).map((kind) => `\`${kind.name}\``);
    const text = [
      `# coracle/${name}`,
      "<!-- made by: npm run reference -->",
      (/^\/\*\*([\s\S]*?)\*\//.exec(entry.text)?.[1] ?? "").replaceAll(/^\s*\*? ?/gm, "").trim(),
      links(own.map((one) => one.name)),
      ...own.map((one) => this.#section(one.name, one.symbol)),
      ...(kinds.length === 0
        ? []
        : [`## Kinds of Kubernetes`, `Types of Kubernetes' own objects, with its fields (\`kubectl explain\`): ${kinds.join(", ")}.`]),
    ];
    const undocumented = own.filter(({ symbol }) => checker.getDocumentationCommentOfSymbol(symbol) === "").map((one) => one.name);
    return { file: `docs/reference/${name}.md`, text: `${text.join("\n\n")}\n`, undocumented };
  }

  /** Kubernetes' own types: their fields are its documentation's. */
  #isKind(symbol: Symbol): boolean {
    return this.#declarations(symbol).every((node) => node.getSourceFile().fileName.includes("/src/api/"));
  }

  #section(name: string, symbol: Symbol): string {
    const declarations = this.#declarations(symbol);
    // Of a function with overloads, the one with a body is not for callers.
    const callable = declarations.filter((node) => !isFunctionDeclaration(node) || node.body === undefined);
    const shown = (callable.length > 0 ? callable : declarations).map((node) => this.#declaration(node));
    const hidden = declarations.filter(isInterfaceDeclaration).flatMap((node) => this.#hiddenBases(node));
    const code = [...shown, ...hidden].join("\n\n");
    const doc = this.#project.checker.getDocumentationCommentOfSymbol(symbol);
    return [`## ${name}`, ...(doc === "" ? [] : [doc]), `\`\`\`ts\n${code}\n\`\`\``].join("\n\n");
  }

  /** Interfaces that an exported one extends and that are not exported themselves. */
  #hiddenBases(node: InterfaceDeclaration): string[] {
    const names = node.heritageClauses?.flatMap((clause) => clause.types.map((type) => type.expression)) ?? [];
    return names.flatMap((name) => {
      const found = this.#project.checker.getSymbolAtLocation(name);
      if (found === undefined || this.#exported.has(found.id)) return [];
      const bases = this.#declarations(found).filter((base) => isInterfaceDeclaration(base) && base.getSourceFile() === node.getSourceFile());
      return bases.map((base) => this.#declaration(base));
    });
  }

  #declaration(node: Node): string {
    if (isFunctionDeclaration(node)) return this.#signature(node, node.body);
    if (isClassDeclaration(node)) return this.#class(node);
    if (isVariableDeclaration(node)) return this.#variable(node);
    return withoutExport(node.getText());
  }

  #signature(node: SignatureDeclaration, body: Node | undefined): string {
    const head = withoutExport(textUntil(node, body))
      .replace(/^async /, "")
      .replace(/;$/, "");
    const signature = node.type === undefined && node.kind !== SyntaxKind.Constructor ? this.#project.checker.getSignatureFromDeclaration(node) : undefined;
    const returned = signature && this.#project.checker.getReturnTypeOfSignature(signature);
    return `${head}${returned === undefined ? "" : `: ${this.#project.checker.typeToString(returned, node, typeFlags)}`};`;
  }

  #class(node: ClassDeclaration): string {
    const members = node.members.filter(isPublic).map((member) => `${docOf(member)}  ${this.#member(member)}`);
    const head = withoutExport(node.getText());
    return [head.slice(0, head.indexOf("{") + 1), ...members, "}"].join("\n");
  }

  #member(member: ClassElement): string {
    const { checker } = this.#project;
    if (!isPropertyDeclaration(member)) {
      const method = member as ClassElement & SignatureDeclaration & { readonly body?: Node };
      return this.#signature(method, method.body).replace(/^async /, "");
    }
    const head = textUntil(member, member.initializer).replace(/\s*=$|;$/, "");
    const type = member.type === undefined ? checker.getTypeAtLocation(member) : undefined;
    return `${head}${type === undefined ? "" : `: ${checker.typeToString(type, member, typeFlags)}`};`;
  }

  #variable(node: VariableDeclaration): string {
    const { checker } = this.#project;
    const name = node.name.getText();
    if (node.type !== undefined) return `const ${name}: ${node.type.getText()};`;
    const type = checker.getTypeAtLocation(node);
    if (type === undefined) throw new Error(`${name} has no type`);
    const value = bare(node.initializer);
    if (value === undefined || !isObjectLiteralExpression(value)) return `const ${name}: ${checker.typeToString(type, node, typeFlags)};`;
    const members = checker.getPropertiesOfType(type).map((property) => {
      const doc = checker.getDocumentationCommentOfSymbol(property).replaceAll("\n", " ");
      return `${doc === "" ? "" : `  /** ${doc} */\n`}  ${property.name}: ${checker.typeToString(checker.getTypeOfSymbolAtLocation(property, node), node, typeFlags)};`;
    });
    return [`const ${name}: {`, ...members, "};"].join("\n");
  }

  #declarations(symbol: Symbol): Node[] {
    return symbol.declarations.flatMap((handle) => handle.resolve(this.#project) ?? []);
  }
}

function isPublic(member: ClassElement): boolean {
  const isPrivate = /^((static|readonly|async|override|get|set) )*#|^(private|protected) /.test(member.getText());
  return !isPrivate && !docOf(member).includes("@internal");
}

/** Headings that differ only in case get a number, as GitHub counts them. */
function links(names: readonly string[]): string {
  const seen = new Map<string, number>();
  const texts = names.map((name) => {
    const anchor = name.toLowerCase();
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return `[${name}](#${anchor}${count === 0 ? "" : `-${count}`})`;
  });
  return texts.join(" · ");
}

/** `{…} as const satisfies T`: the object. */
function bare(node: Node | undefined): Node | undefined {
  return node !== undefined && (isAsExpression(node) || isSatisfiesExpression(node)) ? bare(node.expression) : node;
}

/** The docstring as it stands in the source, with its line break; empty when there is none. */
function docOf(node: Node): string {
  const before = node.getSourceFile().text.slice(node.getFullStart(), node.getStart());
  const doc = /\/\*\*[\s\S]*?\*\/(?=\s*$)/.exec(before)?.[0];
  return doc === undefined ? "" : `  ${doc}\n`;
}

function textUntil(node: Node, end: Node | undefined): string {
  return node
    .getSourceFile()
    .text.slice(node.getStart(), end?.getStart() ?? node.end)
    .trim();
}

function withoutExport(text: string): string {
  return text.replace(/^export (default )?/, "");
}

function main(): number {
  const pages = referencePages();
  for (const { file, text } of pages) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  const undocumented = pages.flatMap(({ file, undocumented: names }) => names.map((name) => `${file}: ${name} has no docstring`));
  for (const line of undocumented) console.error(line);
  return undocumented.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
