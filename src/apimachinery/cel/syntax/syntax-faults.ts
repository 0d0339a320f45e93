/**
 * Words the faults of a text that is no expression as a parser made by ANTLR does: it walks the grammar, drops or invents one token where that
 * helps, else skips to a token that may follow, and tells about each fault once.
 */
import type { CelIssue } from "../source.ts";
import { grammar } from "./grammar.ts";
import type { GrammarNode, Peek, Predict, RuleName, Sequence } from "./grammar.ts";
import type { Token, TokenKind } from "./lexer.ts";
import { reservedNames } from "./literals.ts";

export function describeSyntaxFaults(text: string, tokens: readonly Token[], unread: ReadonlyArray<readonly [number, number]>): CelIssue[] {
  const walk = new Walk(text, tokens, unread);
  drive(walk.rule("start", 0, undefined));
  return walk.issues;
}

/** Where the walk is: before item `index` of `sequence`, which ends in `parent`, goes round again (`loop`) or ends its rule. */
interface Place {
  readonly sequence: Sequence;
  index: number;
  readonly parent: Place | undefined;
  readonly loop?: GrammarNode;
  readonly isRule: boolean;
}

interface Follow {
  readonly kinds: Set<TokenKind>;
  /** The rule may end here. */
  mayEnd: boolean;
}

/** A part of the walk that hands parts of its own to `drive`, so that deep nesting needs no deep stack. */
type Steps = Generator<Steps, void>;

function drive(first: Steps): void {
  const open = [first];
  let thrown: { readonly error: unknown } | undefined;
  for (let current = open.at(-1); current !== undefined; current = open.at(-1)) {
    try {
      const step: IteratorResult<Steps, void> = thrown === undefined ? current.next() : current.throw(thrown.error);
      thrown = undefined;
      if (step.done === true) open.pop();
      else open.push(step.value);
    } catch (error) {
      thrown = { error };
      open.pop();
    }
  }
  if (thrown !== undefined) throw thrown.error;
}

class Fault extends Error {
  readonly issue: CelIssue;
  constructor(issue: CelIssue) {
    super(issue.message);
    this.issue = issue;
  }
}
class GaveUp extends Error {}

const maxRecoveries = 30;
const [primaryChoice] = grammar.primary;

/** In the order of the grammar's token types, which is the order in which sets are shown. */
const order: readonly TokenKind[] = [
  "<EOF>",
  "==",
  "!=",
  "in",
  "<",
  "<=",
  ">=",
  ">",
  "&&",
  "||",
  "[",
  "]",
  "{",
  "}",
  "(",
  ")",
  ".",
  ",",
  "-",
  "!",
  "?",
  ":",
  "+",
  "*",
  "/",
  "%",
  "true",
  "false",
  "null",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
  "ESC_IDENTIFIER",
];

class Walk {
  readonly issues: CelIssue[] = [];
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #unread: ReadonlyArray<readonly [number, number]>;
  #next = 0;
  #isRecovering = false;
  #recoveries = 0;
  #lastFaultAt = -1;
  readonly #lastFaultPlaces = new Set<unknown>();

  constructor(text: string, tokens: readonly Token[], unread: ReadonlyArray<readonly [number, number]>) {
    this.#text = text;
    this.#unread = unread;
    this.#tokens = tokens;
  }

  *rule(name: RuleName, power: number, caller: Place | undefined): Steps {
    const place: Place = { sequence: grammar[name], index: 0, parent: caller, isRule: true };
    try {
      yield this.#sequence(place, power);
    } catch (error) {
      if (error instanceof GaveUp && caller === undefined) return;
      if (!(error instanceof Fault)) throw error;
      this.#report(error.issue);
      // The tree lacks the name then, which its reader complains about.
      if (name === "escapeIdent" && caller?.sequence[0]?.type === "token") this.issues.push({ offset: error.issue.offset, message: "unsupported ident kind" });
      this.#recover(place);
    }
  }

  *#sequence(place: Place, power: number): Steps {
    for (place.index = 0; place.index < place.sequence.length; place.index++) yield this.#item(place.sequence[place.index]!, place, power);
  }

  *#item(item: GrammarNode, place: Place, power: number): Steps {
    switch (item.type) {
      case "token":
        this.#match(item.kind, place);
        break;
      case "rule":
        yield this.rule(item.rule, 0, place);
        break;
      case "optional":
        this.#sync(place);
        if (firstOf(item.body).kinds.has(this.#kind(0))) yield this.#body(item.body, place, power);
        break;
      case "choice":
        this.#sync(place);
        yield this.#branch(item, this.#predict(item.choose), place, power);
        break;
      case "star":
        while (item.continues?.(this.#peek) ?? firstOf(item.body).kinds.has(this.#kind(0))) yield this.#body(item.body, place, power, item);
        break;
      case "plus":
        do {
          yield this.#body(item.body, place, power, item);
          this.#syncLoop(place, item);
        } while (item.continues === undefined ? firstOf(item.body).kinds.has(this.#kind(0)) : this.#predict(item.continues) === 1);
        break;
      case "operators":
        for (let strength = item.powers.get(this.#kind(0)) ?? 0; strength > power; strength = item.powers.get(this.#kind(0)) ?? 0) {
          this.#isRecovering = false;
          this.#next++;
          yield this.rule(item.rule, strength, { sequence: [], index: 0, parent: place, loop: item, isRule: false });
        }
    }
  }

  #branch(item: GrammarNode & { type: "choice" }, index: number, place: Place, power: number): Steps {
    const name = this.#token(this.#kind(0) === "." ? 1 : 0);
    if (item === primaryChoice && index < 2 && reservedNames.has(name.text))
      this.issues.push({ offset: name.at, message: `reserved identifier: ${name.text}` });
    return this.#body(item.branches[index]!, place, power);
  }

  #body(sequence: Sequence, parent: Place, power: number, loop?: GrammarNode): Steps {
    return this.#sequence({ sequence, index: 0, parent, isRule: false, ...(loop && { loop }) }, power);
  }

  readonly #peek: Peek = (ahead) => this.#kind(ahead);

  #token(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  #kind(ahead: number): TokenKind {
    return this.#token(ahead).kind;
  }

  #predict(predict: Predict): number {
    const prediction = predict(this.#peek);
    if (typeof prediction === "number") return prediction;
    const first = this.#token();
    const last = this.#token(prediction.noneAfter - 1);
    const input = first.kind === "<EOF>" ? "<EOF>" : this.#read(first.at, last.kind === "<EOF>" ? this.#token(prediction.noneAfter - 2).end : last.end);
    throw new Fault({ offset: last.at, message: `Syntax error: no viable alternative at input '${escaped(input)}'` });
  }

  /** The text without what is no token. */
  #read(from: number, to: number): string {
    let text = "";
    let at = from;
    for (const [start, end] of this.#unread) {
      if (start < from || start >= to) continue;
      text += this.#text.slice(at, start);
      at = end;
    }
    return text + this.#text.slice(at, to);
  }

  #match(kind: TokenKind, place: Place): void {
    if (this.#kind(0) === kind) {
      this.#isRecovering = false;
      this.#consume();
      return;
    }
    this.#countRecovery();
    if (this.#dropToken(place, kind)) {
      this.#consume();
      return;
    }
    const after = expectedAfter(place, place.index + 1);
    if (!after.has(this.#kind(0))) throw this.#mismatch(new Set([kind]));
    this.#report(this.#issue(`missing ${shownSet(new Set([kind]))} at ${shownToken(this.#token())}`));
  }

  /** At a decision the next token must fit one of its branches or what follows them. */
  #sync(place: Place): void {
    if (this.#isRecovering) return;
    const next = nextOf(place, place.index);
    if (next.mayEnd || next.kinds.has(this.#kind(0))) return;
    if (!this.#dropToken(place)) throw this.#mismatch(expectedAfter(place, place.index));
  }

  #syncLoop(place: Place, item: GrammarNode): void {
    if (this.#isRecovering) return;
    const next = nextOf({ sequence: [], index: 0, parent: place, loop: item, isRule: false }, 0);
    if (next.mayEnd || next.kinds.has(this.#kind(0))) return;
    this.#report(this.#issue(`extraneous input ${shownToken(this.#token())} expecting ${shownSet(next.kinds)}`));
    this.#skipTo(new Set([...next.kinds, ...this.#recoverySet(place)]));
  }

  /** Drops the next token when the one behind it fits. */
  #dropToken(place: Place, kind?: TokenKind): boolean {
    const expected = kind === undefined ? expectedAfter(place, place.index) : new Set([kind]);
    if (!expected.has(this.#kind(1))) return false;
    this.#report(this.#issue(`extraneous input ${shownToken(this.#token())} expecting ${shownSet(expected)}`));
    this.#consume();
    this.#isRecovering = false;
    return true;
  }

  #mismatch(expected: ReadonlySet<TokenKind>): Fault {
    return new Fault(this.#issue(`mismatched input ${shownToken(this.#token())} expecting ${shownSet(expected)}`));
  }

  #issue(message: string): CelIssue {
    return { offset: this.#token().at, message: `Syntax error: ${message}` };
  }

  /** Tells nothing more until a token has matched again. */
  #report(issue: CelIssue): void {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    this.issues.push(issue);
  }

  #recover(place: Place): void {
    this.#countRecovery();
    const spot = place.sequence[place.index] ?? place.sequence;
    if (this.#lastFaultAt === this.#next && this.#lastFaultPlaces.has(spot)) this.#consume();
    this.#lastFaultAt = this.#next;
    this.#lastFaultPlaces.add(spot);
    this.#skipTo(this.#recoverySet(place));
  }

  #countRecovery(): void {
    if (this.#recoveries++ < maxRecoveries) return;
    this.issues.push(this.#issue(`error recovery attempt limit exceeded: ${maxRecoveries}`));
    throw new GaveUp();
  }

  /** Tokens that may follow any of the rules that are open. */
  #recoverySet(place: Place): Set<TokenKind> {
    const kinds = new Set<TokenKind>();
    for (let current: Place | undefined = place; current !== undefined; current = current.parent) {
      if (!current.isRule || current.parent === undefined) continue;
      for (const kind of nextOf(current.parent, current.parent.index + 1).kinds) kinds.add(kind);
    }
    return kinds;
  }

  #skipTo(kinds: ReadonlySet<TokenKind>): void {
    while (this.#kind(0) !== "<EOF>" && !kinds.has(this.#kind(0))) this.#consume();
  }

  #consume(): void {
    this.#next = Math.min(this.#next + 1, this.#tokens.length - 1);
  }
}

/** Tokens that can come next from item `index` on, within the rule. */
function nextOf(place: Place, index: number): Follow {
  const follow: Follow = { kinds: new Set(), mayEnd: false };
  let current: Place | undefined = place;
  let at = index;
  for (;;) {
    const first = firstOf(current.sequence.slice(at));
    for (const kind of first.kinds) follow.kinds.add(kind);
    if (!first.mayEnd) return follow;
    if (current.isRule || current.parent === undefined) return { ...follow, mayEnd: true };
    if (current.loop !== undefined) for (const kind of firstOf([current.loop]).kinds) follow.kinds.add(kind);
    current = current.parent;
    at = current.index + 1;
  }
}

/** As `nextOf`, and beyond the rule's end in the rules that called it. */
function expectedAfter(place: Place, index: number): Set<TokenKind> {
  const expected = new Set<TokenKind>();
  let current = place;
  let at = index;
  for (;;) {
    const next = nextOf(current, at);
    for (const kind of next.kinds) expected.add(kind);
    if (!next.mayEnd) return expected;
    let rule: Place = current;
    while (!rule.isRule && rule.parent !== undefined) rule = rule.parent;
    if (rule.parent === undefined) return expected.add("<EOF>");
    current = rule.parent;
    at = current.index + 1;
  }
}

const firsts = new WeakMap<GrammarNode, Follow>();

function firstOf(sequence: Sequence): Follow {
  const first: Follow = { kinds: new Set(), mayEnd: false };
  for (const item of sequence) {
    const own = firstOfItem(item);
    for (const kind of own.kinds) first.kinds.add(kind);
    if (!own.mayEnd) return first;
  }
  return { ...first, mayEnd: true };
}

function firstOfItem(item: GrammarNode): Follow {
  const known = firsts.get(item);
  if (known !== undefined) return known;
  const first = computeFirst(item);
  firsts.set(item, first);
  return first;
}

function computeFirst(item: GrammarNode): Follow {
  switch (item.type) {
    case "token":
      return { kinds: new Set([item.kind]), mayEnd: false };
    case "rule":
      return firstOf(grammar[item.rule]);
    case "optional":
    case "star":
      return { kinds: firstOf(item.body).kinds, mayEnd: true };
    case "plus":
      return firstOf(item.body);
    case "choice": {
      const branches = item.branches.map((branch) => firstOf(branch));
      return { kinds: new Set(branches.flatMap((branch) => [...branch.kinds])), mayEnd: branches.some((branch) => branch.mayEnd) };
    }
    case "operators":
      return { kinds: new Set(item.powers.keys()), mayEnd: true };
  }
}

function shownToken(token: Token): string {
  return `'${token.kind === "<EOF>" ? "<EOF>" : escaped(token.text)}'`;
}

function shownSet(kinds: ReadonlySet<TokenKind>): string {
  const names = order.filter((kind) => kinds.has(kind)).map((kind) => (/^[A-Z<]\w+>?$/.test(kind) ? kind : `'${kind}'`));
  return names.length === 1 ? names[0]! : `{${names.join(", ")}}`;
}

function escaped(text: string): string {
  return text
    .replaceAll("\n", String.raw`\n`)
    .replaceAll("\r", String.raw`\r`)
    .replaceAll("\t", String.raw`\t`);
}
