"""A client written with the package `kubernetes` as its documentation shows: typed and dynamic objects, watch, apply, logs, exec.

Ends with 0 when all of it went as on any cluster.
"""

import datetime
import threading

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.stream import stream

NAMESPACE = "default"


def objects(core):
    seen = []
    watched = threading.Event()

    def follow(version):
        for event in watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE, label_selector="of=python", resource_version=version, timeout_seconds=60):
            seen.append((event["type"], event["object"].metadata.name))
            if event["type"] == "DELETED":
                watched.set()
                return

    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    follower = threading.Thread(target=follow, args=(version,), daemon=True)
    follower.start()
    metadata = client.V1ObjectMeta(name="typed", labels={"of": "python"})
    made = core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=metadata, data={"a": "1"}))
    assert isinstance(made.metadata.creation_timestamp, datetime.datetime)
    core.patch_namespaced_config_map("typed", NAMESPACE, {"data": {"a": None, "b": "2"}})
    assert core.read_namespaced_config_map("typed", NAMESPACE).data == {"b": "2"}
    try:
        core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="Typed")))
        raise AssertionError("a bad name is refused")
    except ApiException as error:
        assert error.status == 422, error
    core.delete_namespaced_config_map("typed", NAMESPACE)
    assert watched.wait(30), seen
    assert seen == [("ADDED", "typed"), ("MODIFIED", "typed"), ("DELETED", "typed")], seen


def dynamic_objects(api):
    resources = dynamic.DynamicClient(api)
    definitions = resources.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition")
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}}}}
    definitions.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "boxes.python.coracle.local"},
            "spec": {
                "group": "python.coracle.local",
                "names": {"kind": "Box", "plural": "boxes"},
                "scope": "Namespaced",
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
            },
        }
    )
    for event in definitions.watch(name="boxes.python.coracle.local", timeout=30):
        conditions = event["object"].status.conditions or []
        if any(condition.type == "Established" and condition.status == "True" for condition in conditions):
            break
    else:
        raise AssertionError("the definition is not established")
    resources.resources.invalidate_cache()
    boxes = resources.resources.get(api_version="python.coracle.local/v1", kind="Box")
    box = {"apiVersion": "python.coracle.local/v1", "kind": "Box", "metadata": {"name": "one"}, "spec": {"size": 3}}
    boxes.server_side_apply(box, namespace=NAMESPACE, field_manager="python")
    assert boxes.get(name="one", namespace=NAMESPACE).spec.size == 3
    try:
        boxes.patch({"metadata": {"name": "one"}, "spec": {"size": 0}}, namespace=NAMESPACE, content_type="application/merge-patch+json")
        raise AssertionError("the schema refuses 0")
    except dynamic.exceptions.UnprocessibleEntityError as error:
        assert "should be greater than or equal to 1" in error.summary(), error.summary()
    assert [item.metadata.name for item in boxes.get(namespace=NAMESPACE).items] == ["one"]
    boxes.delete(name="one", namespace=NAMESPACE)


def pods(api, core):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod"},
        "spec": {"containers": [{"name": "main", "image": "main", "command": ["sh", "-c", "echo started; exec sleep 1000"]}]},
    }
    utils.create_from_dict(api, pod)
    for event in watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, field_selector="metadata.name=pod", timeout_seconds=30):
        if event["object"].status.phase == "Running":
            break
    else:
        raise AssertionError("the pod does not run")
    following = watch.Watch()
    for line in following.stream(core.read_namespaced_pod_log, "pod", NAMESPACE):
        assert line == "started", line
        following.stop()
    said = stream(core.connect_get_namespaced_pod_exec, "pod", NAMESPACE, command=["sh", "-c", "read line; echo said $line; exit 3"], stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False)
    said.write_stdin("it\n")
    said.run_forever(timeout=30)
    assert (said.read_stdout(), said.returncode) == ("said it\n", 3), said.returncode
    core.delete_namespaced_pod("pod", NAMESPACE, grace_period_seconds=0)


def main():
    config.load_kube_config()
    api = client.ApiClient()
    core = client.CoreV1Api(api)
    version = client.VersionApi(api).get_code()
    assert (version.major, version.minor) == ("1", "37"), version
    objects(core)
    dynamic_objects(api)
    pods(api, core)
    print("python: done")


main()
