// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/envtest"
)

// In a test the configuration is that of an Environment: requests.Wrap(env.Config()).
func ExampleRequests() {
	var requests envtest.Requests
	cfg := requests.Wrap(&rest.Config{Transport: emptyServer{}})
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}

	mark := requests.Mark()
	for _, name := range []string{"a", "b"} {
		get(client, "/apis/apps/v1/namespaces/default/deployments/"+name)
	}
	get(client, "/api/v1/configmaps?watch=true")

	fmt.Println(requests.Since(mark))
	fmt.Println("without watches:", requests.Since(mark).Foreground().Counts())
	// Output:
	//      2  get deployments.apps
	//      1  watch configmaps
	// without watches: map[get deployments.apps:2]
}

func ExampleExpectNoRequests() {
	var requests envtest.Requests
	fmt.Println(envtest.ExpectNoRequests(context.Background(), &requests, time.Millisecond))
	// Output: <nil>
}

// get asks for a path.
func get(client *http.Client, path string) {
	response, err := client.Get("http://server" + path)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = response.Body.Close()
}
