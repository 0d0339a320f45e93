/** Rows of networking kinds. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { qualifiedResource } from "../../apimachinery/object.ts";
import { age, cutList, isMarkedDefault, loadBalancerText, nameOf, orNone, selectorText } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { IPAddress, Ingress, IngressClass, IngressRule, NetworkPolicy, ServiceCIDR } from "./types.ts";

export const ingressColumns: TablePrinter<Ingress> = {
  cells(ingress, context) {
    const { spec, status } = ingress;
    return [
      nameOf(ingress),
      spec?.ingressClassName ?? "<none>",
      hostsText(spec?.rules ?? []),
      loadBalancerText(status?.loadBalancer?.ingress),
      (spec?.tls ?? []).length > 0 ? "80, 443" : "80",
      age(ingress, context),
    ];
  },
};

export const ingressClassColumns: TablePrinter<IngressClass> = {
  cells(ingressClass, context) {
    const parameters = ingressClass.spec?.parameters;
    const isDefault = isMarkedDefault(ingressClass, "ingressclass.kubernetes.io/is-default-class");
    return [
      isDefault ? `${nameOf(ingressClass)} (default)` : nameOf(ingressClass),
      ingressClass.spec?.controller ?? "",
      parameters === undefined ? "<none>" : `${qualifiedResource(parameters.kind, parameters.apiGroup ?? "")}/${parameters.name}`,
      age(ingressClass, context),
    ];
  },
};

/** The age is a cell without a column: so upstream prints it. */
export const ipAddressColumns: TablePrinter<IPAddress> = {
  cells(address, context) {
    const parent = address.spec?.parentRef;
    const path = [qualifiedResource(parent?.resource ?? "", parent?.group ?? ""), parent?.namespace ?? "", parent?.name ?? ""];
    return [nameOf(address), path.filter((part) => part !== "").join("/"), age(address, context)];
  },
};

export const networkPolicyColumns: TablePrinter<NetworkPolicy> = {
  cells: (policy, context) => [nameOf(policy), selectorText(policy.spec?.podSelector), age(policy, context)],
};

export const serviceCidrColumns: TablePrinter<ServiceCIDR> = {
  cells: (range, context) => [nameOf(range), orNone(range.spec?.cidrs?.join(",")), age(range, context)],
};

/** The first three hosts; rules without a host count only once there are more than those. */
function hostsText(rules: DeepReadonly<IngressRule[]>): string {
  const hosts = rules.filter(({ host }) => host !== undefined && host !== "").map(({ host }) => host!);
  if (hosts.length === 0) return "*";
  const third = rules.findIndex((_, index) => rules.slice(0, index + 1).filter(({ host }) => host !== undefined && host !== "").length === 3);
  const isCut = third >= 0 && third < rules.length - 1;
  return isCut ? `${hosts.slice(0, 3).join(",")} + ${rules.length - 3} more...` : cutList(hosts, 3);
}
