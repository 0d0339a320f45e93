//! A client written with `kube` as its documentation shows: typed and dynamic objects, watch, server-side apply, a controller, logs and exec.
//! Ends with 0 when all of it went as on any cluster.
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{ensure, Context, Result};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::{ConfigMap, Pod}};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    api::{Api, AttachParams, DeleteParams, DynamicObject, ListParams, LogParams, ObjectMeta, Patch, PatchParams, PostParams, PropagationPolicy},
    discovery::Discovery,
    runtime::{controller::Action, reflector, wait::{await_condition, conditions}, watcher, Controller, WatchStreamExt},
    Client, CustomResource, CustomResourceExt, ResourceExt,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::AsyncReadExt;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.coracle.local", version = "v1", kind = "Greeting", namespaced, status = "GreetingStatus")]
struct GreetingSpec {
    name: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct GreetingStatus {
    text: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let client = Client::try_default().await?;
    tokio::time::timeout(Duration::from_secs(120), run(client)).await.context("all of it takes too long")?
}

async fn run(client: Client) -> Result<()> {
    objects(client.clone()).await.context("objects")?;
    pods(client.clone()).await.context("pods")?;
    custom_resources(client).await.context("custom resources")?;
    println!("kube: done");
    Ok(())
}

async fn objects(client: Client) -> Result<()> {
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let (reader, writer) = reflector::store();
    let watching = tokio::spawn(reflector(writer, watcher(api.clone(), watcher::Config::default().labels("of=rust"))).applied_objects().try_for_each(|_| async { Ok(()) }));
    reader.wait_until_ready().await?;

    let labels = BTreeMap::from([("of".to_string(), "rust".to_string())]);
    for index in 0..5 {
        let metadata = ObjectMeta { name: Some(format!("map-{index}")), labels: Some(labels.clone()), ..Default::default() };
        api.create(&PostParams::default(), &ConfigMap { metadata, ..Default::default() }).await?;
    }
    let taken = api.create(&PostParams::default(), &ConfigMap { metadata: ObjectMeta { name: Some("map-0".into()), ..Default::default() }, ..Default::default() }).await;
    ensure!(matches!(&taken, Err(kube::Error::Api(status)) if status.code == 409 && status.reason == "AlreadyExists"), "a second map-0: {taken:?}");

    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map-0"}, "data": {"a": "1"}});
    let applied = api.patch("map-0", &PatchParams::apply("rust"), &Patch::Apply(&apply)).await?;
    ensure!(applied.data == Some(BTreeMap::from([("a".to_string(), "1".to_string())])), "{applied:?}");
    let conflict = api.patch("map-0", &PatchParams::apply("other"), &Patch::Apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map-0"}, "data": {"a": "2"}}))).await;
    ensure!(matches!(&conflict, Err(kube::Error::Api(status)) if status.code == 409), "{conflict:?}");

    let mut names = vec![];
    let mut page = ListParams::default().labels("of=rust").limit(2);
    loop {
        let list = api.list(&page).await?;
        names.extend(list.items.iter().map(ResourceExt::name_any));
        match list.metadata.continue_ {
            Some(token) if !token.is_empty() => page = page.continue_token(&token),
            _ => break,
        }
    }
    ensure!(names == ["map-0", "map-1", "map-2", "map-3", "map-4"], "{names:?}");
    while !reader.state().iter().any(|map| map.name_any() == "map-0" && map.data.is_some()) || reader.state().len() < 5 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    let discovery = Discovery::new(client.clone()).run().await?;
    let (resource, _) = discovery.groups().flat_map(|group| group.recommended_resources()).find(|(resource, _)| resource.kind == "ConfigMap").context("no ConfigMap")?;
    let dynamic: Api<DynamicObject> = Api::default_namespaced_with(client, &resource);
    ensure!(dynamic.get("map-0").await?.data["data"]["a"] == "1");
    api.delete_collection(&DeleteParams::default(), &ListParams::default().labels("of=rust")).await?;
    while !reader.state().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    watching.abort();
    Ok(())
}

async fn pods(client: Client) -> Result<()> {
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web", "command": ["sh", "-c", "echo started; exec sleep 1000"]}]}}}
    }))?;
    deployments.create(&PostParams::default(), &deployment).await?;
    await_condition(deployments.clone(), "web", conditions::is_deployment_completed()).await?;
    let pods: Api<Pod> = Api::default_namespaced(client);
    let pod = pods.list(&ListParams::default().labels("app=web")).await?.items.pop().context("no pod")?;
    let name = pod.name_any();
    await_condition(pods.clone(), &name, conditions::is_pod_running()).await?;
    while pods.logs(&name, &LogParams::default()).await? != "started\n" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut attached = pods.exec(&name, ["sh", "-c", "echo said; exit 3"], &AttachParams::default()).await?;
    let mut said = String::new();
    attached.stdout().context("no stdout")?.read_to_string(&mut said).await?;
    let status = attached.take_status().context("no status")?.await.context("no status came")?;
    ensure!(said == "said\n" && status.reason.as_deref() == Some("NonZeroExitCode"), "{said} {status:?}");
    deployments.delete("web", &DeleteParams { propagation_policy: Some(PropagationPolicy::Foreground), ..DeleteParams::background().grace_period(0) }).await?;
    await_condition(pods, &name, conditions::is_deleted(&pod.uid().context("no uid")?)).await?;
    Ok(())
}

async fn custom_resources(client: Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.patch("greetings.test.coracle.local", &PatchParams::apply("rust"), &Patch::Apply(Greeting::crd())).await?;
    await_condition(definitions, "greetings.test.coracle.local", conditions::is_crd_established()).await?;
    let greetings: Api<Greeting> = Api::default_namespaced(client.clone());
    let controlling = tokio::spawn(Controller::new(greetings.clone(), watcher::Config::default()).run(greet, |_, _, _| Action::requeue(Duration::from_millis(100)), Arc::new(client)).for_each(|_| async {}));
    greetings.create(&PostParams::default(), &Greeting::new("hello", GreetingSpec { name: "world".into() })).await?;
    await_condition(greetings.clone(), "hello", |greeting: Option<&Greeting>| greeting.and_then(|greeting| greeting.status.as_ref()).is_some_and(|status| status.text == "Hello, world")).await?;
    let refused = greetings.create(&PostParams::default(), &serde_json::from_value(json!({"apiVersion": "test.coracle.local/v1", "kind": "Greeting", "metadata": {"name": "Bad"}, "spec": {"name": ""}}))?).await;
    ensure!(matches!(&refused, Err(kube::Error::Api(status)) if status.code == 422), "{refused:?}");
    controlling.abort();
    Ok(())
}

async fn greet(greeting: Arc<Greeting>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let api: Api<Greeting> = Api::default_namespaced((*client).clone());
    let status = json!({"status": {"text": format!("Hello, {}", greeting.spec.name)}});
    api.patch_status(&greeting.name_any(), &PatchParams::default(), &Patch::Merge(&status)).await?;
    Ok(Action::await_change())
}
