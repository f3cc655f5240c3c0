// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newNamespace creates a namespace of the test's own.
func newNamespace(t *testing.T, c client.Client) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// podTemplate is a template that matches selector.
func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: selector().MatchLabels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}},
	}
}

func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

func eventuallyGone(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	NewWithT(t).Eventually(t.Context(), func() bool {
		return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	}).WithTimeout(patience).Should(BeTrue(), "%T %s is still there", object, client.ObjectKeyFromObject(object))
}

func TestDeploymentBecomesAvailable(t *testing.T) {
	c := newClient(t, shared.controllers.get(t).Config())
	g := NewWithT(t)
	replicas := int32(2)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: newNamespace(t, c), Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector(), Template: podTemplate()},
	}
	g.Expect(c.Create(t.Context(), deployment)).To(Succeed())
	g.Eventually(t.Context(), func(g Gomega) {
		g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
		g.Expect(deployment.Status.AvailableReplicas).To(Equal(replicas))
		g.Expect(deployment.Status.Conditions).To(ContainElement(And(
			HaveField("Type", appsv1.DeploymentAvailable), HaveField("Status", corev1.ConditionTrue),
		)))
	}).WithTimeout(patience).Should(Succeed())

	var pods corev1.PodList
	g.Expect(c.List(t.Context(), &pods, client.InNamespace(deployment.Namespace))).To(Succeed())
	g.Expect(pods.Items).To(HaveEach(And(
		HaveField("Spec.NodeName", HavePrefix("node-")), HaveField("Spec.ServiceAccountName", "default"),
	)))
}

func TestStatefulSetBecomesReady(t *testing.T) {
	c := newClient(t, shared.controllers.get(t).Config())
	g := NewWithT(t)
	replicas := int32(2)
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: newNamespace(t, c), Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "db", Replicas: &replicas, Selector: selector(), Template: podTemplate(),
		},
	}
	g.Expect(c.Create(t.Context(), set)).To(Succeed())
	g.Eventually(t.Context(), func(g Gomega) {
		g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(set), set)).To(Succeed())
		g.Expect(set.Status.AvailableReplicas).To(Equal(replicas))
	}).WithTimeout(patience).Should(Succeed())
}

func TestJobCompletes(t *testing.T) {
	c := newClient(t, shared.controllers.get(t).Config())
	g := NewWithT(t)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: newNamespace(t, c), Name: "migrate"},
		Spec:       batchv1.JobSpec{Template: podTemplate()},
	}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	g.Expect(c.Create(t.Context(), job)).To(Succeed())
	g.Eventually(t.Context(), func(g Gomega) {
		g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(job), job)).To(Succeed())
		g.Expect(job.Status.Conditions).To(ContainElement(And(
			HaveField("Type", batchv1.JobComplete), HaveField("Status", corev1.ConditionTrue),
		)))
	}).WithTimeout(patience).Should(Succeed())
}

// createOwned creates a Widget and a ConfigMap that it owns.
func createOwned(t *testing.T, c client.Client) (owner, owned client.Object) {
	t.Helper()
	namespace := newNamespace(t, c)
	widget := newWidget(namespace, "owner")
	if err := c.Create(t.Context(), widget); err != nil {
		t.Fatal(err)
	}
	blocks := true
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace,
		Name:      "owned",
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion:         widget.GetAPIVersion(),
			Kind:               widget.GetKind(),
			Name:               widget.GetName(),
			UID:                widget.GetUID(),
			BlockOwnerDeletion: &blocks,
		}},
	}}
	if err := c.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	return widget, config
}

func TestOwnedObjectsAreCollected(t *testing.T) {
	c := newClient(t, shared.controllers.get(t).Config())
	for _, policy := range []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground,
	} {
		t.Run(string(policy), func(t *testing.T) {
			owner, owned := createOwned(t, c)
			err := c.Delete(t.Context(), owner, client.PropagationPolicy(policy))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			eventuallyGone(t, c, owner)
			eventuallyGone(t, c, owned)
		})
	}
}

func TestForegroundDeletionWaitsForOwnedObjects(t *testing.T) {
	c := newClient(t, shared.controllers.get(t).Config())
	g := NewWithT(t)
	owner, owned := createOwned(t, c)
	owned.SetFinalizers([]string{"test.espalier.dev/wait"})
	g.Expect(c.Update(t.Context(), owned)).To(Succeed())
	g.Expect(c.Delete(t.Context(), owner, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
	g.Eventually(t.Context(), func(g Gomega) {
		g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(owned), owned)).To(Succeed())
		g.Expect(owned.GetDeletionTimestamp()).NotTo(BeNil())
	}).WithTimeout(patience).Should(Succeed())
	g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(owner), owner)).To(Succeed())

	owned.SetFinalizers(nil)
	g.Expect(c.Update(t.Context(), owned)).To(Succeed())
	eventuallyGone(t, c, owned)
	eventuallyGone(t, c, owner)
}

func TestNamespaceDeletionEmptiesIt(t *testing.T) {
	c := newClient(t, shared.controllers.get(t).Config())
	owner, owned := createOwned(t, c)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: owner.GetNamespace()}}
	NewWithT(t).Expect(c.Delete(t.Context(), namespace)).To(Succeed())
	eventuallyGone(t, c, namespace)
	eventuallyGone(t, c, owner)
	eventuallyGone(t, c, owned)
}
