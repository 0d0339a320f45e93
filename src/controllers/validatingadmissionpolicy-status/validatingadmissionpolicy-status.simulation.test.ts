import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { ValidatingAdmissionPolicy } from "../../api/admissionregistration-v1/types.ts";

const expressions = ["object.spec.replicas > 1", "object.spec.nothing > 1", "object.spec.replicas.size() > 1"];
const setting = { controllers: ["validatingadmissionpolicy-status-controller"], nodes: [], steps: 14 };

/** Policies come and change: the status of each ends as its last expression deserves. */
simulate("policies end with what is wrong with them", setting, ({ client, random, state }) => {
  let born = 0;
  const policies = () => state.of<ValidatingAdmissionPolicy>("ValidatingAdmissionPolicy");
  const spec = () => ({
    matchConstraints: { resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] }] },
    validations: [{ expression: someOf(random, expressions)! }],
  });
  const create = () => client.create(resources.validatingAdmissionPolicies, { metadata: { name: `p${++born}` }, spec: spec() });
  return {
    arrange: create,
    async step() {
      const name = someOf(random, policies())?.metadata.name;
      const choice = random.integer(4);
      if (choice === 0 || name === undefined) return create();
      if (choice === 1) return client.delete(resources.validatingAdmissionPolicies, "", name);
      return client.patch(resources.validatingAdmissionPolicies, "", name, { type: "merge", body: { spec: spec() } });
    },
    async reached() {
      for (const { metadata, spec: wanted, status } of policies()) {
        assert.equal(status?.observedGeneration, metadata.generation, `${metadata.name}`);
        const warnings = status?.typeChecking?.expressionWarnings ?? [];
        assert.equal(warnings.length > 0, wanted?.validations?.[0]?.expression !== expressions[0], `${metadata.name}: ${wanted?.validations?.[0]?.expression}`);
      }
    },
  };
});
