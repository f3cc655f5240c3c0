// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

func TestDefinitionsAreServedAtOnce(t *testing.T) {
	needsControlPlane(t)
	g := NewWithT(t)
	crd := gadgetCRD()
	env, err := envtest.Start(t.Context(), envtest.Options{
		CRDPaths: []string{"testdata/crds/widgets.yaml"},
		CRDs:     []*apiextensionsv1.CustomResourceDefinition{crd},
	})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(env.Stop()).To(Succeed()) }()
	c := newClient(t, env.Config())
	for _, object := range []client.Object{newWidget("default", "a"), newGadget("default", "a")} {
		g.Expect(c.Create(t.Context(), object)).To(Succeed())
	}
	g.Expect(crd).To(Equal(gadgetCRD()), "the caller's object isn't written to")
}

func TestDefinitionsMustExist(t *testing.T) {
	needsControlPlane(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	_, err := envtest.Start(t.Context(), envtest.Options{CRDPaths: []string{"testdata/absent"}})
	NewWithT(t).Expect(err).To(MatchError(And(
		ContainSubstring("reading CustomResourceDefinitions"), ContainSubstring("testdata/absent"),
	)))
	expectNothingLeft(t, folder)
}

func TestDefinitionsMustBeValid(t *testing.T) {
	needsControlPlane(t)
	crd := gadgetCRD()
	crd.Spec.Names.Plural = "others"
	_, err := envtest.Start(t.Context(), envtest.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}})
	NewWithT(t).Expect(err).To(MatchError(And(
		ContainSubstring("installing CustomResourceDefinitions"), ContainSubstring("gadgets.test.espalier.dev"),
	)))
}
