// SPDX-License-Identifier: Apache-2.0

package dependent

// CreateOnly writes the object once: what stands is never changed again, whatever is wanted, and drift in it stays. It
// is judged and deleted as usual, and made again when it is gone. What is adopted, or taken over from an operator
// before this one, keeps its contents too, and gets the tracking alone.
func (p *Policies[Self]) CreateOnly() Self {
	p.policy.once = true
	return p.self
}
