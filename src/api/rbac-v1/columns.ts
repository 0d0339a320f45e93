/** Rows of roles and bindings. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, createdAt, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Subject } from "./types.ts";

export const roleColumns: TablePrinter<Role> = { cells: (role) => [nameOf(role), createdAt(role)], isPlain: true };

export const clusterRoleColumns: TablePrinter<ClusterRole> = { cells: (role) => [nameOf(role), createdAt(role)], isPlain: true };

export const roleBindingColumns: TablePrinter<RoleBinding | ClusterRoleBinding> = {
  cells(binding, context) {
    const { roleRef, subjects = [] } = binding;
    const names = (kind: string) =>
      subjects
        .filter((subject) => subject.kind === kind)
        .map(subjectText)
        .join(", ");
    return [nameOf(binding), `${roleRef?.kind ?? ""}/${roleRef?.name ?? ""}`, age(binding, context), names("User"), names("Group"), names("ServiceAccount")];
  },
};

function subjectText({ kind, namespace, name }: DeepReadonly<Subject>): string {
  return kind === "ServiceAccount" ? `${namespace ?? ""}/${name}` : name;
}
