/** Evaluates a policy's or webhook's expressions over one request, within one budget. */
import {
  AuthorizerValue,
  ObjectValue,
  ResourceCheckValue,
  CelError,
  activationOf,
  admissionRequestType,
  dynType,
  evaluate,
  fromJson,
  namespaceType,
} from "../../../apimachinery/cel/index.ts";
import type { Activation, Evaluation, Program, Value } from "../../../apimachinery/cel/index.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { OpenQuestion } from "./authorization.ts";
import type { AskedDecisions } from "./authorization.ts";
import type { RequestView } from "./request-view.ts";

/** A variable of a policy; `program` is absent when it does not compile. */
export interface PolicyVariable {
  readonly name: string;
  readonly program: Program | undefined;
}

export interface EvaluationScope {
  readonly view: RequestView;
  readonly decisions: AskedDecisions;
  /** Absent: the policy takes none. */
  readonly params?: JsonObject | null;
  readonly variables?: readonly PolicyVariable[];
  /** Most that all evaluations together may cost. */
  readonly costBudget: number;
}

export class Evaluator {
  readonly #activation: Activation;
  readonly #decisions: AskedDecisions;
  #budget: number;

  constructor({ view, decisions, params, variables = [], costBudget }: EvaluationScope) {
    this.#decisions = decisions;
    this.#budget = costBudget;
    const given: Record<string, Value | (() => Value)> = {
      object: () => fromJson(view.object, dynType),
      oldObject: () => fromJson(view.oldObject, dynType),
      request: () => fromJson(view.description, admissionRequestType),
      namespaceObject: () => fromJson(view.namespaceObject, namespaceType),
      authorizer: () => new AuthorizerValue(decisions),
      "authorizer.requestResource": () => requestResource(view, new AuthorizerValue(decisions)),
    };
    if (params !== undefined) given["params"] = () => fromJson(params, dynType);
    given["variables"] = new VariablesValue(variables, (program) => this.#variable(program));
    this.#activation = activationOf(given);
  }

  /** The result, or the error's text; `outOfBudget` when nothing more may be evaluated. */
  async evaluate(program: Program): Promise<{ readonly value: Value } | { readonly error: string; readonly outOfBudget: boolean }> {
    const result = await this.#settled(program);
    this.#budget -= result.cost;
    if (this.#budget < 0) return { error: "validation failed due to running out of cost budget, no further validation rules will be run", outOfBudget: true };
    if ("error" in result) return { error: result.error, outOfBudget: false };
    return { value: result.value };
  }

  async #settled(program: Program): Promise<Evaluation> {
    for (;;) {
      try {
        return evaluate(program, this.#activation);
      } catch (error) {
        if (!(error instanceof OpenQuestion)) throw error;
        await this.#decisions.answer(error);
      }
    }
  }

  #variable(program: Program): Evaluation {
    const result = evaluate(program, this.#activation);
    this.#budget -= result.cost;
    return result;
  }
}

/** `variables`: each is evaluated when it is first used. */
class VariablesValue extends ObjectValue {
  override readonly typeName = "kubernetes.variables";
  readonly #programs: ReadonlyMap<string, Program | undefined>;
  readonly #run: (program: Program) => Evaluation;
  readonly #known = new Map<string, Value>();

  constructor(variables: readonly PolicyVariable[], run: (program: Program) => Evaluation) {
    super();
    // Of two with the same name the last one counts.
    this.#programs = new Map(variables.map(({ name, program }) => [name, program]));
    this.#run = run;
  }

  override field(name: string): Value | undefined {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const program = this.#programs.get(name);
    if (program === undefined) return new CelError(`no such field '${name}'`);
    const result = this.#run(program);
    const value = "value" in result ? result.value : new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${result.error}`);
    this.#known.set(name, value);
    return value;
  }

  override fieldNames(): Iterable<string> {
    return this.#programs.keys();
  }
}

function requestResource({ request }: RequestView, by: AuthorizerValue): Value {
  const { definition, subresource, namespace, name } = request;
  return new ResourceCheckValue(by, {
    group: definition.group,
    resource: definition.resource,
    subresource,
    namespace,
    name,
    fieldSelector: "",
    labelSelector: "",
  });
}
