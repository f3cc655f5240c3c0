// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"fmt"
	"slices"
	"strconv"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
)

// DOT draws the graph in the language of Graphviz, ending in a newline: arrows run from a prerequisite to what depends
// on it, those that needn't be ready are labelled; groups and Repeats are framed. With the states of a run it is
// coloured.
func (p *Picture) DOT() string {
	text, err := dot.Marshal(dotGraph{digraph: p.downstream(), picture: p}, strconv.Quote(p.name), "", "  ")
	if err != nil {
		return fmt.Sprintf("// drawing %s: %v\n", p.name, err)
	}
	return string(text) + "\n"
}

// downstream lists, for each node, what depends on it.
func (p *Picture) downstream() digraph {
	out := make(digraph, len(p.nodes))
	for i, n := range p.nodes {
		for _, e := range n.prerequisites {
			if !slices.Contains(out[e.to], int32(i)) {
				out[e.to] = append(out[e.to], int32(i))
			}
		}
	}
	return out
}

// dotGraph shows a picture to gonum, with names and attributes.
type dotGraph struct {
	digraph
	picture *Picture
}

func (g dotGraph) DOTAttributers() (graph, node, edge encoding.Attributer) {
	boxes := attributes{{Key: "shape", Value: "box"}, {Key: "style", Value: "filled"}, {Key: "fillcolor", Value: "white"}}
	return attributes{{Key: "rankdir", Value: "LR"}}, boxes, attributes{}
}

func (g dotGraph) Node(id int64) gonum.Node { return dotNode{number(id), g.picture} }

func (g dotGraph) Nodes() gonum.Nodes { return dotNodes{g.digraph.Nodes(), g.picture} }

func (g dotGraph) From(id int64) gonum.Nodes { return dotNodes{g.digraph.From(id), g.picture} }

func (g dotGraph) Edge(u, v int64) gonum.Edge {
	if !g.HasEdgeFromTo(u, v) {
		return nil
	}
	return dotEdge{step{g.Node(u), g.Node(v)}, g.picture}
}

// Structure frames the groups and Repeats.
func (g dotGraph) Structure() []dot.Graph { return dotFrames(g.picture, g.picture.clusters().inner) }

// dotFrame shows a cluster to gonum.
type dotFrame struct {
	digraph // without nodes and edges: those are drawn once, by the whole
	picture *Picture
	cluster *cluster
}

func dotFrames(p *Picture, clusters []*cluster) (frames []dot.Graph) {
	for _, c := range clusters {
		frames = append(frames, dotFrame{digraph: make(digraph, len(p.nodes)), picture: p, cluster: c})
	}
	return frames
}

func (f dotFrame) DOTID() string { return strconv.Quote("cluster_" + f.cluster.name) }

func (f dotFrame) DOTAttributers() (graph, node, edge encoding.Attributer) {
	return attributes{{Key: "label", Value: strconv.Quote(f.cluster.name)}}, attributes{}, attributes{}
}

func (f dotFrame) Nodes() gonum.Nodes {
	members := make([]int32, len(f.cluster.nodes))
	for i, n := range f.cluster.nodes {
		members[i] = int32(n)
	}
	return dotMembers{&numbers{list: members}, f.picture}
}

func (f dotFrame) Structure() []dot.Graph { return dotFrames(f.picture, f.cluster.inner) }

// dotMembers are nodes by name only.
type dotMembers struct {
	gonum.Nodes
	picture *Picture
}

func (m dotMembers) Node() gonum.Node { return dotMember{number(m.Nodes.Node().ID()), m.picture} }

type dotMember struct {
	number
	picture *Picture
}

func (m dotMember) DOTID() string { return strconv.Quote(m.picture.nodes[m.ID()].title()) }

type dotNodes struct {
	gonum.Nodes
	picture *Picture
}

func (n dotNodes) Node() gonum.Node { return dotNode{number(n.Nodes.Node().ID()), n.picture} }

type dotNode struct {
	number
	picture *Picture
}

func (n dotNode) DOTID() string { return strconv.Quote(n.picture.nodes[n.ID()].title()) }

func (n dotNode) Attributes() []encoding.Attribute {
	if n.picture.rows == nil {
		return nil
	}
	row := &n.picture.rows[n.ID()]
	label := n.picture.nodes[n.ID()].title() + "\n" + string(row.State)
	if why := row.explanation(); why != "" {
		label += "\n" + why
	}
	return []encoding.Attribute{
		{Key: "label", Value: strconv.Quote(label)}, {Key: "fillcolor", Value: strconv.Quote(lookOf(row.State).fill)},
	}
}

type dotEdge struct {
	step
	picture *Picture
}

func (e dotEdge) Attributes() []encoding.Attribute {
	for _, p := range e.picture.nodes[e.to.ID()].prerequisites {
		if int64(p.to) == e.from.ID() && p.kind != ready {
			return []encoding.Attribute{{Key: "label", Value: strconv.Quote(p.kind.String())}}
		}
	}
	return nil
}

type attributes []encoding.Attribute

func (a attributes) Attributes() []encoding.Attribute { return a }
