// The shape of GET /v1/graph.

export interface MemoryNode {
  type: "memory";
  id: string;
  summary: string;
  memory_type: string;
  kind: string;
  status: string;
  origin: string;
  importance: number;
  created_at: string;
  valid_from: string;
  tags: string[];
  overdue: boolean;
  cluster: number | null;
  island: boolean;
}

export interface DecisionNode {
  type: "decision";
  id: string;
  summary: string;
  action: string;
  created_at: string;
  occurred_at: string;
  outcomes: Record<string, number>;
  tags: string[];
  overdue: boolean;
  cluster: number | null;
  island: boolean;
}

export type Node = MemoryNode | DecisionNode;

export interface Edge {
  from: string;
  to: string;
  kind: string;
  weight: number;
}

export interface Cluster {
  id: number;
  size: number;
  memories: number;
  decisions: number;
  overdue: number;
  tags: string[];
  first: string;
  last: string;
}

export interface Graph {
  nodes: Node[];
  edges: Edge[];
  clusters: Cluster[];
  islands: number;
  counts: { memories: number; decisions: number; edges: Record<string, number> };
  withheld: string[];
  truncated: boolean;
  /** How many of the weakest edges the answer had no room for. */
  edges_left_out?: number;
}
