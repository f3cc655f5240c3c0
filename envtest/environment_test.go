// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestConfigIsTheCallers(t *testing.T) {
	env := shared.core.get(t)
	cfg := env.Config()
	cfg.Host = "https://elsewhere.example"
	NewWithT(t).Expect(env.Config().Host).NotTo(Equal(cfg.Host))
}

func TestKubeconfigGivesTheSameAccess(t *testing.T) {
	env := shared.core.get(t)
	g := NewWithT(t)
	cfg, err := clientcmd.BuildConfigFromFlags("", env.KubeconfigPath())
	g.Expect(err).NotTo(HaveOccurred())
	c := newClient(t, cfg)
	g.Expect(c.List(t.Context(), &corev1.SecretList{})).To(Succeed())
}

func TestUserHasTheRightsOfItsGroups(t *testing.T) {
	env := shared.core.get(t)
	g := NewWithT(t)
	admin := newClient(t, env.Config())
	namespace := newNamespace(t, admin)
	g.Expect(admin.Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}},
	})).To(Succeed())
	g.Expect(admin.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "readers"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "readers"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
	})).To(Succeed())

	reader, err := env.User("operator", "readers")
	g.Expect(err).NotTo(HaveOccurred())
	c := newClient(t, reader)
	g.Eventually(t.Context(), func() error {
		return c.List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace))
	}).WithTimeout(patience).Should(Succeed())
	err = c.List(t.Context(), &corev1.SecretList{}, client.InNamespace("default"))
	g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
	g.Expect(err).To(MatchError(ContainSubstring(`User "operator"`)))

	outsider, err := env.User("operator")
	g.Expect(err).NotTo(HaveOccurred())
	err = newClient(t, outsider).List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace))
	g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
}

func TestUserNeedsAName(t *testing.T) {
	_, err := shared.core.get(t).User("")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("give it a name")))
}
