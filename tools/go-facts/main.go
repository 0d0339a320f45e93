// Prints, for every type of the Kubernetes API, how Go's JSON sees its fields: name, type, pointer, omitempty, omitzero, the protobuf
// number, and the embedded structs a field comes from.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	imagepolicy "k8s.io/api/imagepolicy/v1alpha1"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apireg "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type field struct {
	Name     string     `json:"name"`
	Type     string     `json:"type"`
	Flags    string     `json:"flags,omitempty"`
	Number   int        `json:"number,omitempty"`
	Embedded []embedded `json:"embedded,omitempty"`
}

type embedded struct {
	Name   string `json:"name"`
	Number int    `json:"number,omitempty"`
}

// number reads the field number out of a protobuf tag such as `bytes,2,rep,name=items`.
func number(f reflect.StructField) int {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(parts[1])
	return n
}

var out = map[string][]field{}

func name(t reflect.Type) string {
	p := t.PkgPath()
	return p + "." + t.Name()
}

func expr(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Ptr:
		return "*" + expr(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && t.Name() == "" {
			return "bytes"
		}
		if t.Name() != "" {
			walk(t.Elem())
			return "named:" + name(t) + "=[]" + expr(t.Elem())
		}
		return "[]" + expr(t.Elem())
	case reflect.Map:
		key := t.Key().Kind().String()
		if t.Key().PkgPath() != "" {
			key = name(t.Key())
		}
		s := "map[" + key + "]" + expr(t.Elem())
		if t.Name() != "" {
			return "named:" + name(t) + "=" + s
		}
		return s
	case reflect.Struct:
		walk(t)
		return name(t)
	default:
		if t.Name() != t.Kind().String() {
			return "named:" + name(t) + "=" + t.Kind().String()
		}
		return t.Kind().String()
	}
}

func fields(t reflect.Type) []field {
	var fs []field
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || (f.PkgPath != "" && !f.Anonymous) {
			continue
		}
		parts := strings.Split(tag, ",")
		inline := false
		flags := ""
		for _, p := range parts[1:] {
			if p == "inline" {
				inline = true
			}
			if p == "omitempty" {
				flags += "e"
			}
			if p == "omitzero" {
				flags += "z"
			}
		}
		if inline || (f.Anonymous && parts[0] == "") {
			ft := f.Type
			if ft.Kind() == reflect.Ptr {
				ft = ft.Elem()
			}
			if ft.Kind() == reflect.Struct {
				for _, inner := range fields(ft) {
					inner.Embedded = append([]embedded{{f.Name, number(f)}}, inner.Embedded...)
					fs = append(fs, inner)
				}
			}
			continue
		}
		n := parts[0]
		if n == "" {
			n = f.Name
		}
		fs = append(fs, field{n, expr(f.Type), flags, number(f), nil})
	}
	return fs
}

func walk(t reflect.Type) {
	if t.Kind() != reflect.Struct || t.Name() == "" {
		return
	}
	n := name(t)
	if _, ok := out[n]; ok {
		return
	}
	out[n] = nil
	out[n] = fields(t)
}

// lifecycles tells, for every kind, the releases that its version came with, is deprecated since and goes away in, and what replaces it.
func lifecycles() map[string]map[string]string {
	all := map[string]map[string]string{}
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if strings.HasSuffix(gvk.Kind, "List") {
			continue
		}
		v := reflect.New(t).Interface()
		life := map[string]string{}
		if x, ok := v.(interface{ APILifecycleIntroduced() (int, int) }); ok {
			major, minor := x.APILifecycleIntroduced()
			life["introduced"] = fmt.Sprintf("%d.%d", major, minor)
		}
		if x, ok := v.(interface{ APILifecycleDeprecated() (int, int) }); ok {
			major, minor := x.APILifecycleDeprecated()
			life["deprecated"] = fmt.Sprintf("%d.%d", major, minor)
		}
		if x, ok := v.(interface{ APILifecycleRemoved() (int, int) }); ok {
			major, minor := x.APILifecycleRemoved()
			life["removed"] = fmt.Sprintf("%d.%d", major, minor)
		}
		if x, ok := v.(interface {
			APILifecycleReplacement() schema.GroupVersionKind
		}); ok {
			r := x.APILifecycleReplacement()
			life["replacement"] = r.GroupVersion().String() + " " + r.Kind
		}
		if len(life) > 0 {
			all[gvk.GroupVersion().String()+" "+gvk.Kind] = life
		}
	}
	return all
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "lifecycles" {
		json.NewEncoder(os.Stdout).Encode(lifecycles())
		return
	}
	for _, t := range scheme.Scheme.AllKnownTypes() {
		walk(t)
	}
	for _, v := range []any{apiext.CustomResourceDefinition{}, apiext.CustomResourceDefinitionList{}, apiext.ConversionReview{}, apireg.APIService{}, apireg.APIServiceList{}, admissionv1.AdmissionReview{}, metav1.Table{}, metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{}, metav1.APIGroupList{}, metav1.APIResourceList{}, metav1.APIVersions{}, imagepolicy.ImageReview{}} {
		walk(reflect.TypeOf(v))
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "")
	e.Encode(out)
}
