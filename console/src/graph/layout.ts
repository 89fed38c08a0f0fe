// Where the nodes of a graph stand: clusters as packed circles, islands in a circle of their own, then forces.
// The same graph gives the same picture: nothing here is random, and the work is counted in steps, not in seconds.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type Simulation, type SimulationLinkDatum, type SimulationNodeDatum } from "d3-force";
import { packSiblings } from "d3-hierarchy";
import type { Edge, Graph, Node } from "./types";

export interface Point extends SimulationNodeDatum {
  node: Node;
  x: number;
  y: number;
  /** Radius, by importance. */
  r: number;
  group: Group;
}

export interface Line extends SimulationLinkDatum<Point> {
  edge: Edge;
  source: Point;
  target: Point;
}

export interface Group {
  /** The cluster's id; null for the islands. */
  id: number | null;
  x: number;
  y: number;
  r: number;
  size: number;
  tags: string[];
}

export interface Layout {
  points: Point[];
  lines: Line[];
  groups: Group[];
  byId: Map<string, Point>;
  /** Does a step of the forces; false when all is settled. */
  step: () => boolean;
}

const SPACE = 11;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

function radius(node: Node): number {
  return node.type === "decision" ? 4.5 : 2.5 + 3.5 * node.importance;
}

export function layOut(graph: Graph): Layout {
  const members = new Map<number | null, Node[]>();
  for (const node of graph.nodes) {
    const home = node.island ? null : node.cluster;
    const list = members.get(home);
    if (list) list.push(node);
    else members.set(home, [node]);
  }
  const tags = new Map(graph.clusters.map((cluster) => [cluster.id, cluster.tags]));
  const groups: Group[] = [...members]
    .sort((a, b) => b[1].length - a[1].length || (a[0] ?? -1) - (b[0] ?? -1))
    .map(([id, nodes]) => ({
      id,
      x: 0,
      y: 0,
      r: SPACE * Math.sqrt(nodes.length) + 22,
      size: nodes.length,
      tags: id === null ? [] : (tags.get(id) ?? []),
    }));
  packSiblings(groups);

  const points: Point[] = [];
  for (const group of groups) {
    (members.get(group.id) ?? []).forEach((node, index) => {
      // A sunflower's seeds: even, and in the order of time from the middle outwards.
      const far = SPACE * Math.sqrt(index);
      points.push({
        node,
        group,
        r: radius(node),
        x: group.x + far * Math.cos(index * GOLDEN),
        y: group.y + far * Math.sin(index * GOLDEN),
      });
    });
  }
  const byId = new Map(points.map((point) => [point.node.id, point]));
  const lines: Line[] = [];
  for (const edge of graph.edges) {
    const source = byId.get(edge.from);
    const target = byId.get(edge.to);
    if (source && target) lines.push({ edge, source, target });
  }
  return { points, lines, groups, byId, step: forces(points, lines, groups) };
}

function forces(points: Point[], lines: Line[], groups: Group[]): () => boolean {
  const moving = points.filter((point) => point.group.id !== null);
  const pulling = lines.filter((line) => line.edge.kind !== "near_in_time" && line.source.group === line.target.group);
  let left = moving.length < 800 ? 160 : moving.length < 2500 ? 70 : 24;
  const settling: Simulation<Point, Line> = forceSimulation(moving)
    .force("charge", forceManyBody<Point>().strength(-14).theta(1.3).distanceMax(120))
    .force(
      "link",
      forceLink<Point, Line>(pulling)
        .distance(20)
        .strength((line) => (line.edge.kind.startsWith("same_") ? 0.04 : 0.25) * Math.max(0.2, line.edge.weight)),
    )
    .force("x", forceX<Point>((point) => point.group.x).strength(0.07))
    .force("y", forceY<Point>((point) => point.group.y).strength(0.07))
    .force("apart", moving.length < 2500 ? forceCollide<Point>((point) => point.r + 1.5) : null)
    .alphaDecay(1 - 0.02 ** (1 / left))
    .stop();
  return () => {
    if (left <= 0 || moving.length === 0) return false;
    left -= 1;
    settling.tick();
    if (left === 0) enclose(points, groups);
    return left > 0;
  };
}

/** The circles that hold what has moved. */
function enclose(points: Point[], groups: Group[]): void {
  for (const group of groups) {
    if (group.id === null) continue;
    const own = points.filter((point) => point.group === group);
    const x = own.reduce((sum, point) => sum + point.x, 0) / own.length;
    const y = own.reduce((sum, point) => sum + point.y, 0) / own.length;
    const far = own.map((point) => Math.hypot(point.x - x, point.y - y)).sort((a, b) => a - b);
    Object.assign(group, { x, y, r: (far[Math.floor((far.length - 1) * 0.97)] ?? 10) + 14 });
  }
}
