import { test } from "node:test";
import { equal } from "node:assert/strict";
import { seededRandom } from "../../base/random.ts";
import { readConfiguration } from "./configuration.ts";
import { KmsEnvelope } from "./kms.ts";
import type { KmsOptions } from "./kms.ts";
import { buildRules } from "./rules.ts";

const rules = (resources: object): string => JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration", resources });

/** The file, and what upstream says of it (undefined: it starts). */
const table: readonly (readonly [file: string, fault: string | undefined])[] = [
  // empty file
  ["", 'error while parsing file: error while loading file: encryption provider configuration file "FILE" is empty'],
  // not YAML
  ["a: b: c", 'error while parsing file: error decoding encryption provider configuration file "FILE": yaml: mapping values are not allowed in this context'],
  // a list
  [
    "[]",
    'error while parsing file: error decoding encryption provider configuration file "FILE": couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  ],
  // wrong kind
  [
    '{"apiVersion":"apiserver.config.k8s.io/v1","kind":"Nope"}',
    'error while parsing file: error decoding encryption provider configuration file "FILE": no kind "Nope" is registered for version "apiserver.config.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  // kind EncryptionConfig, apiVersion v1 (the old form)
  ['{"apiVersion":"v1","kind":"EncryptionConfig","resources":[]}', "error while parsing file: resources: Required value: at least one resources is required"],
  // v1beta1
  [
    '{"apiVersion":"apiserver.config.k8s.io/v1beta1","kind":"EncryptionConfiguration","resources":[]}',
    'error while parsing file: error decoding encryption provider configuration file "FILE": no kind "EncryptionConfiguration" is registered for version "apiserver.config.k8s.io/v1beta1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  // no kind
  [
    '{"resources":[]}',
    "error while parsing file: error decoding encryption provider configuration file \"FILE\": Object 'Kind' is missing in '{\"resources\":[]}'",
  ],
  // unknown field
  [
    '{"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration","resources":[{"resources":["secrets"],"providers":[{"identity":{}}]}],"foo":1}',
    'error while parsing file: error decoding encryption provider configuration file "FILE": strict decoding error: unknown field "foo"',
  ],
  // a doubled key in YAML
  [
    "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nkind: EncryptionConfiguration\nresources: []\n",
    'error while parsing file: error decoding encryption provider configuration file "FILE": strict decoding error: yaml: unmarshal errors:\n  line 3: key "kind" already set in map',
  ],
  // no resources
  [rules([]), "error while parsing file: resources: Required value: at least one resources is required"],
  // resources missing
  [
    '{"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration"}',
    "error while parsing file: resources: Required value: at least one resources is required",
  ],
  // an entry without resources
  [
    rules([{ resources: [], providers: [{ identity: {} }] }]),
    "error while parsing file: resources[0].resources: Required value: at least one resources[0].resources is required",
  ],
  // an entry without providers
  [
    rules([{ resources: ["secrets"], providers: [] }]),
    "error while parsing file: resources[0].providers: Required value: at least one resources[0].providers is required",
  ],
  // an empty provider
  [
    rules([{ resources: ["secrets"], providers: [{}] }]),
    'error while parsing file: resources[0].providers[0]: Invalid value: {"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":null,"KMS":null}: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
  ],
  // two providers in one
  [
    rules([
      { resources: ["secrets"], providers: [{ identity: {}, aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] },
    ]),
    'error while parsing file: resources[0].providers[0]: Invalid value: {"AESGCM":{"Keys":[{"Name":"key1","Secret":"DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y="}]},"AESCBC":null,"Secretbox":null,"Identity":{},"KMS":null}: more than one provider specified in a single element, should split into different list elements',
  ],
  // unknown provider
  [
    rules([{ resources: ["secrets"], providers: [{ rot13: {} }] }]),
    'error while parsing file: error decoding encryption provider configuration file "FILE": strict decoding error: unknown field "resources[0].providers[0].rot13"',
  ],
  // no keys
  [
    rules([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [] } }] }]),
    "error while parsing file: resources[0].providers[0].aesgcm.keys: Required value: at least one keys is required",
  ],
  // key without a name
  [
    rules([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] }]),
    "error while parsing file: resources[0].providers[0].aesgcm.keys[0].name: Required value: name is a mandatory field for a key",
  ],
  // key without a secret
  [
    rules([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "" }] } }] }]),
    "error while parsing file: resources[0].providers[0].aesgcm.keys[0].secret: Required value: secret is a mandatory field for a key",
  ],
  // secret is not base64
  [
    rules([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "%%%" }] } }] }]),
    'error while parsing file: resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded',
  ],
  // 10-byte aesgcm key
  [
    rules([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTA==" }] } }] }]),
    'error while parsing file: resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 10, expected one of [16 24 32]',
  ],
  // 16-byte aesgcm key
  [rules([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdg==" }] } }] }]), undefined],
  // 24-byte aescbc key
  [rules([{ resources: ["secrets"], providers: [{ aescbc: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeu" }] } }] }]), undefined],
  // 16-byte secretbox key
  [
    rules([{ resources: ["secrets"], providers: [{ secretbox: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdg==" }] } }] }]),
    'error while parsing file: resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]',
  ],
  // 33-byte aescbc key
  [
    rules([{ resources: ["secrets"], providers: [{ aescbc: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+bt" }] } }] }]),
    'error while parsing file: resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 33, expected one of [16 24 32]',
  ],
  // the same key name twice
  [
    rules([
      {
        resources: ["secrets"],
        providers: [
          {
            aesgcm: {
              keys: [
                { name: "k", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" },
                { name: "k", secret: "GiEoLzY9REtSWWBnbnV8g4qRmJ+mrbS7wsnQ197l7PM=" },
              ],
            },
          },
        ],
      },
    ]),
    undefined,
  ],
  // a colon in a key name
  [
    rules([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "a:b", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] }]),
    undefined,
  ],
  // two faults at once
  [
    rules([
      {
        resources: ["secrets"],
        providers: [{ aesgcm: { keys: [{ name: "", secret: "" }] } }, { secretbox: { keys: [{ name: "key1", secret: "DRQbIik=" }] } }],
      },
    ]),
    'error while parsing file: [resources[0].providers[0].aesgcm.keys[0].name: Required value: name is a mandatory field for a key, resources[0].providers[0].aesgcm.keys[0].secret: Required value: secret is a mandatory field for a key, resources[0].providers[1].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of [32]]',
  ],
  // resource twice in one list
  [
    rules([
      { resources: ["secrets", "secrets"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] },
    ]),
    'error while parsing file: resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times',
  ],
  // *.* and secrets in one list
  [
    rules([{ resources: ["*.*", "secrets"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] }]),
    "error while parsing file: resources[0].resources: Invalid value: [\"*.*\",\"secrets\"]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
  ],
  // *. and secrets in one list
  [
    rules([{ resources: ["*.", "secrets"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] }]),
    "error while parsing file: resources[0].resources: Invalid value: [\"*.\",\"secrets\"]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
  ],
  // *.apps and deployments.apps in one list
  [
    rules([
      {
        resources: ["*.apps", "deployments.apps"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }],
      },
    ]),
    "error while parsing file: resources[0].resources: Invalid value: [\"*.apps\",\"deployments.apps\"]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
  ],
  // secrets after *.* in a later entry
  [
    rules([
      { resources: ["*.*"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] },
      { resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "key2", secret: "GiEoLzY9REtSWWBnbnV8g4qRmJ+mrbS7wsnQ197l7PM=" }] } }] },
    ]),
    'error while building transformers: resource "secrets" is masked by earlier rule "*.*"',
  ],
  // deployments.apps after *.apps in a later entry
  [
    rules([
      {
        resources: ["*.apps"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
      {
        resources: ["deployments.apps"],
        providers: [{ aesgcm: { keys: [{ name: "key2", secret: "GiEoLzY9REtSWWBnbnV8g4qRmJ+mrbS7wsnQ197l7PM=" }] } }, { identity: {} }],
      },
    ]),
    'error while building transformers: resource "deployments.apps" is masked by earlier rule "*.apps"',
  ],
  // just *
  [
    rules([{ resources: ["*"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] }]),
    "error while parsing file: resources[0].resources[0]: Invalid value: \"*\": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources",
  ],
  // empty resource
  [rules([{ resources: [""], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] }]), undefined],
  // secrets.
  [
    rules([
      {
        resources: ["secrets."],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
    ]),
    undefined,
  ],
  // capital letters
  [
    rules([
      {
        resources: ["Secrets"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
    ]),
    'error while parsing file: resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
  ],
  // a subresource
  [
    rules([{ resources: ["pods/status"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] }]),
    undefined,
  ],
  // partial wildcard
  [rules([{ resources: ["sec*"], providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }] }]), undefined],
  // unknown resource
  [
    rules([
      {
        resources: ["nopes.example.com"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
    ]),
    undefined,
  ],
  // events.events.k8s.io
  [
    rules([
      {
        resources: ["events.events.k8s.io"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
    ]),
    "error while parsing file: resources[0].resources[0]: Invalid value: \"events.events.k8s.io\": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
  ],
  // deployments without its group
  [
    rules([
      {
        resources: ["deployments"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
    ]),
    undefined,
  ],
  // customresourcedefinitions.apiextensions.k8s.io
  [
    rules([
      {
        resources: ["customresourcedefinitions.apiextensions.k8s.io"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
    ]),
    undefined,
  ],
  // apiservices.apiregistration.k8s.io
  [
    rules([
      {
        resources: ["apiservices.apiregistration.k8s.io"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
    ]),
    undefined,
  ],
  // serviceipallocations
  [
    rules([
      {
        resources: ["serviceipallocations"],
        providers: [{ aesgcm: { keys: [{ name: "key1", secret: "DRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDytHY3+Y=" }] } }, { identity: {} }],
      },
    ]),
    'error while parsing file: resources[0].resources[0]: Invalid value: "serviceipallocations": resources which do not have REST API/s cannot be encrypted',
  ],
  // KMS v1
  [
    rules([{ resources: ["secrets"], providers: [{ kms: { name: "k", endpoint: "unix:///tmp/x.sock" } }] }]),
    "error while building transformers: KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.",
  ],
  // KMS v2 without an endpoint
  [
    rules([{ resources: ["secrets"], providers: [{ kms: { apiVersion: "v2", name: "k" } }] }]),
    'error while parsing file: resources[0].providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms',
  ],
  // KMS v2, tcp endpoint
  [
    rules([{ resources: ["secrets"], providers: [{ kms: { apiVersion: "v2", name: "k", endpoint: "tcp://127.0.0.1:1" } }] }]),
    'error while parsing file: resources[0].providers[0].kms.endpoint: Invalid value: "tcp://127.0.0.1:1": unsupported scheme "tcp" for KMS provider, only unix is supported',
  ],
  // KMS v2 with a cache size
  [
    rules([{ resources: ["secrets"], providers: [{ kms: { apiVersion: "v2", name: "k", cachesize: 5, endpoint: "unix:///tmp/x.sock" } }] }]),
    "error while parsing file: resources[0].providers[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2",
  ],
  // KMS v2, same name twice
  [
    rules([
      {
        resources: ["secrets"],
        providers: [
          { kms: { apiVersion: "v2", name: "k", endpoint: "unix:///tmp/x.sock" } },
          { kms: { apiVersion: "v2", name: "k", endpoint: "unix:///tmp/y.sock" } },
        ],
      },
    ]),
    'error while parsing file: resources[0].providers[1].kms.name: Invalid value: "k": duplicate KMS provider name k, names must be unique',
  ],
  // KMS with a colon in its name
  [
    rules([{ resources: ["secrets"], providers: [{ kms: { apiVersion: "v2", name: "a:b", endpoint: "unix:///tmp/x.sock" } }] }]),
    "error while parsing file: resources[0].providers[0].kms.name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':'",
  ],
  // KMS v3
  [
    rules([{ resources: ["secrets"], providers: [{ kms: { apiVersion: "v3", name: "k", endpoint: "unix:///tmp/x.sock" } }] }]),
    'error while parsing file: resources[0].providers[0].kms.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
  ],
  // KMS v2, timeout 0
  [
    rules([{ resources: ["secrets"], providers: [{ kms: { apiVersion: "v2", name: "k", timeout: "0s", endpoint: "unix:///tmp/x.sock" } }] }]),
    'error while parsing file: resources[0].providers[0].kms.timeout: Invalid value: "0s": timeout should be a positive value',
  ],
];

test("encryption configuration: what upstream refuses is refused in its words", () => {
  const parts = { storageRoot: "/registry/", random: seededRandom(1), allowsKmsV1: false, makeEnvelope: () => new KmsEnvelope({ name: "k" } as KmsOptions) };
  for (const [file, fault] of table) {
    let said: string | undefined;
    try {
      buildRules(readConfiguration(Buffer.from(file), "FILE"), parts);
    } catch (error) {
      said = (error as Error).message;
    }
    equal(said, fault, file);
  }
});
