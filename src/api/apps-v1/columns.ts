/** Rows of workloads. */
import { age, containerCells, labelsText, nameOf, selectorText } from "../cells.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import type { TablePrinter } from "../table.ts";
import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from "./types.ts";

export const controllerRevisionColumns: TablePrinter<ControllerRevision> = {
  cells(revision, context) {
    const owner = revision.metadata.ownerReferences?.find(({ controller }) => controller === true);
    const group = owner === undefined ? "" : (parseApiVersion(owner.apiVersion)?.group ?? "");
    const kind = group === "" ? owner?.kind : `${owner?.kind}.${group}`;
    return [nameOf(revision), owner === undefined ? "<none>" : `${kind?.toLowerCase()}/${owner.name}`, revision.revision ?? 0, age(revision, context)];
  },
};

export const daemonSetColumns: TablePrinter<DaemonSet> = {
  cells(daemonSet, context) {
    const { spec, status } = daemonSet;
    return [
      nameOf(daemonSet),
      status?.desiredNumberScheduled ?? 0,
      status?.currentNumberScheduled ?? 0,
      status?.numberReady ?? 0,
      status?.updatedNumberScheduled ?? 0,
      status?.numberAvailable ?? 0,
      labelsText(spec?.template?.spec?.nodeSelector),
      age(daemonSet, context),
      ...containerCells(spec?.template?.spec),
      selectorText(spec?.selector),
    ];
  },
};

export const deploymentColumns: TablePrinter<Deployment> = {
  cells(deployment, context) {
    const { spec, status } = deployment;
    return [
      nameOf(deployment),
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      status?.updatedReplicas ?? 0,
      status?.availableReplicas ?? 0,
      age(deployment, context),
      ...containerCells(spec?.template?.spec),
      selectorText(spec?.selector),
    ];
  },
};

export const replicaSetColumns: TablePrinter<ReplicaSet> = {
  cells(replicaSet, context) {
    const { spec, status } = replicaSet;
    const counts = [spec?.replicas ?? 0, status?.replicas ?? 0, status?.readyReplicas ?? 0];
    return [nameOf(replicaSet), ...counts, age(replicaSet, context), ...containerCells(spec?.template?.spec), selectorText(spec?.selector)];
  },
};

export const statefulSetColumns: TablePrinter<StatefulSet> = {
  cells(statefulSet, context) {
    const { spec, status } = statefulSet;
    return [nameOf(statefulSet), `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`, age(statefulSet, context), ...containerCells(spec?.template?.spec)];
  },
};
