/** Rows of a resource's table (`kubectl get`). Columns are data (`data/columns.json`); cells are computed here, one printer per resource. */
import type { DeepReadonly, JsonValue } from "../apimachinery/json.ts";
import type { KubeObject } from "../apimachinery/object.ts";

export interface RowContext {
  readonly nowMs: number;
}

/** meta.k8s.io/v1 TableRowCondition. */
export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface TablePrinter<T extends KubeObject = any> {
  /** One cell per column of the resource, in order. */
  cells(object: DeepReadonly<T>, context: RowContext): readonly JsonValue[];
  conditions?(object: DeepReadonly<T>): readonly RowCondition[];
  /** Upstream prints these kinds by its general means: an empty list has `rows: null`. */
  readonly isPlain?: boolean;
  /** Order of rows when it is not the order of the list. */
  compare?(left: DeepReadonly<T>, right: DeepReadonly<T>): number;
}
