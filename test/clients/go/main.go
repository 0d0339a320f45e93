// A client written with client-go as its documentation shows: protobuf, shared informers, server-side apply, the dynamic and metadata
// clients, paging, leader election and events. Ends with 0 when all of it went as on any cluster.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

const namespace = "default"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err)
	config.QPS = -1
	inProtobuf := rest.CopyConfig(config)
	inProtobuf.ContentType = "application/vnd.kubernetes.protobuf"
	inProtobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	for name, chosen := range map[string]*rest.Config{"json": config, "protobuf": inProtobuf} {
		client := kubernetes.NewForConfigOrDie(chosen)
		informer(ctx, client, name)
		apply(ctx, client, name)
		pages(ctx, client)
		events(ctx, client, name)
		election(ctx, client, name)
	}
	untyped(ctx, config)
	fmt.Println("client-go: done")
}

// An informer sees each object come, change and go, and ends up with what is there.
func informer(ctx context.Context, client kubernetes.Interface, name string) {
	var added, updated, deleted atomic.Int32
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace), informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.LabelSelector = "of=" + name
	}))
	maps := factory.Core().V1().ConfigMaps()
	_, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	check(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	configMaps := client.CoreV1().ConfigMaps(namespace)
	for index := range 10 {
		_, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, index), Labels: map[string]string{"of": name}}}, metav1.CreateOptions{})
		check(err)
	}
	for index := range 10 {
		// Optimistic locking: another writer is in between once.
		wasInterrupted := false
		check(retry.RetryOnConflict(retry.DefaultRetry, func() error {
			found, err := configMaps.Get(ctx, fmt.Sprintf("%s-%d", name, index), metav1.GetOptions{})
			check(err)
			if !wasInterrupted {
				wasInterrupted = true
				other := found.DeepCopy()
				other.Data = map[string]string{"other": "1"}
				_, err := configMaps.Update(ctx, other, metav1.UpdateOptions{})
				check(err)
			}
			found.Data = map[string]string{"own": "1"}
			_, err = configMaps.Update(ctx, found, metav1.UpdateOptions{})
			return err
		}))
	}
	for index := range 5 {
		grace := int64(0)
		check(configMaps.Delete(ctx, fmt.Sprintf("%s-%d", name, index), metav1.DeleteOptions{GracePeriodSeconds: &grace}))
	}
	eventually(ctx, "what the informer has seen", func() bool {
		return added.Load() == 10 && updated.Load() == 20 && deleted.Load() == 5 && len(maps.Informer().GetStore().List()) == 5
	})
	check(configMaps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "of=" + name}))
	eventually(ctx, "an empty cache", func() bool { return len(maps.Informer().GetStore().List()) == 0 })
}

func apply(ctx context.Context, client kubernetes.Interface, name string) {
	configMaps := client.CoreV1().ConfigMaps(namespace)
	own := applycorev1.ConfigMap("applied-"+name, namespace).WithData(map[string]string{"a": "1"})
	_, err := configMaps.Apply(ctx, own, metav1.ApplyOptions{FieldManager: "one"})
	check(err)
	other := applycorev1.ConfigMap("applied-"+name, namespace).WithData(map[string]string{"a": "2"})
	_, err = configMaps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"})
	require(apierrors.IsConflict(err), "a conflict of managers, not %v", err)
	_, err = configMaps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two", Force: true})
	check(err)
	found, err := configMaps.Get(ctx, "applied-"+name, metav1.GetOptions{})
	check(err)
	extracted, err := applycorev1.ExtractConfigMap(found, "one")
	check(err)
	require(found.Data["a"] == "2" && len(extracted.Data) == 0, "the field to have its new manager: %v", found.ManagedFields)
}

func pages(ctx context.Context, client kubernetes.Interface) {
	count := 0
	list := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
		return client.RbacV1().ClusterRoles().List(ctx, options)
	}))
	list.PageSize = 7
	check(list.EachListItem(ctx, metav1.ListOptions{}, func(runtime.Object) error {
		count++
		return nil
	}))
	all, err := client.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{})
	check(err)
	require(count == len(all.Items) && count > 7, "as many in pages (%d) as at once (%d)", count, len(all.Items))
}

func events(ctx context.Context, client kubernetes.Interface, name string) {
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events(namespace)})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "test-" + name})
	subject, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "applied-"+name, metav1.GetOptions{})
	check(err)
	recorder.Eventf(subject, corev1.EventTypeNormal, "Said", "said %d", 1)
	recorder.Eventf(subject, corev1.EventTypeNormal, "Said", "said %d", 1)
	eventually(ctx, "an event that happened twice", func() bool {
		list, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Said,involvedObject.name=applied-" + name})
		check(err)
		return len(list.Items) == 1 && list.Items[0].Count == 2
	})
}

// Of two candidates one leads; when it lets go the other does.
func election(ctx context.Context, client kubernetes.Interface, name string) {
	leaders := make(chan string, 2)
	run := func(ctx context.Context, identity string) {
		lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "lock-" + name, Namespace: namespace}, Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: identity}}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, LeaseDuration: 5 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leaders <- identity }, OnStoppedLeading: func() {}},
		})
	}
	first, stopFirst := context.WithCancel(ctx)
	second, stopSecond := context.WithCancel(ctx)
	defer stopSecond()
	go run(first, "first")
	require(<-leaders == "first", "the first to lead")
	go run(second, "second")
	stopFirst()
	require(<-leaders == "second", "the second to follow")
}

func untyped(ctx context.Context, config *rest.Config) {
	resource := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	object, err := dynamic.NewForConfigOrDie(config).Resource(resource).Namespace(namespace).Get(ctx, "applied-json", metav1.GetOptions{})
	check(err)
	require(object.GetKind() == "ConfigMap", "a ConfigMap: %v", object)
	part, err := metadata.NewForConfigOrDie(config).Resource(resource).Namespace(namespace).Get(ctx, "applied-json", metav1.GetOptions{})
	check(err)
	require(part.UID == object.GetUID() && len(part.ManagedFields) > 0, "its metadata alone: %v", part)
}

func eventually(ctx context.Context, what string, condition func() bool) {
	err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) { return condition(), nil })
	require(err == nil, "%s", what)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func require(isSo bool, format string, values ...any) {
	if !isSo {
		panic(fmt.Sprintf("expected "+format, values...))
	}
}
