// The shapes of the API that the console reads. What is optional may be missing on an older server.

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export interface Source {
  session_id: string | null;
  turn_id: string | null;
  speaker: string | null;
  tool: string | null;
  document: string | null;
  decision_id: string | null;
}

export interface Memory {
  id: string;
  namespace: string;
  user_id: string;
  agent_id: string | null;
  session_id: string | null;
  content: string;
  summary: string;
  memory_type: string;
  kind: string;
  tags: string[];
  entities: string[];
  importance: number;
  confidence: number;
  confirmations: number;
  origin: string;
  audience: string;
  status: string;
  version: number;
  created_at: string;
  updated_at: string;
  created_by: string;
  updated_by: string;
  valid_from: string;
  valid_to: string | null;
  expires_at: string | null;
  last_confirmed_at: string | null;
  last_recalled_at: string | null;
  source: Source;
  superseded_by: string | null;
  merged_into: string | null;
  conflicts: string[];
  pending: boolean;
  enrichment: string;
  archived_because: string | null;
  deleted_at: string | null;
  deleted_by: string | null;
  deleted_because: string | null;
  metadata: Record<string, unknown>;
  evidence?: string[];
  consolidated_into?: string | null;
  last_used_at?: string | null;
  text_archived?: boolean;
}

export interface HistoryRow {
  version: number;
  known_from: string;
  known_to: string | null;
  change: string;
  by: string;
  reason: string | null;
  memory: Memory;
}

export interface Conflict {
  id: string;
  namespace: string;
  user_id: string;
  type: string;
  subject: string;
  slot: string;
  memory_ids: string[];
  question: string;
  state: string;
  created_at: string;
  updated_at: string;
  resolution: string | null;
  keep: string | null;
  resolved_by: string | null;
  automatic: boolean;
  note: string | null;
}

export interface Hit {
  id: string;
  score: number;
  parts: Record<string, number>;
  summary: string;
  content: string | null;
  memory_type: string;
  kind: string;
  origin: string;
  status: string;
  importance: number;
  valid_from: string;
  tags: string[];
  conflicts: string[];
  pending: boolean;
}

export interface RecallAnswer {
  hits: Hit[];
  conflicts: Conflict[];
  abstained: boolean;
  reason: string | null;
  degraded: string[];
  recall_id: string;
  took_ms: number;
  cost: Record<string, unknown>;
  explain?: {
    profile: { name: string; weights: Record<string, number>; decay: number };
    next: { id: string; score: number; parts: Record<string, number> }[];
    left_out: Record<string, string>;
  } | null;
}

export interface ContextAnswer {
  text: string;
  tokens: number;
  hits: Hit[];
  abstained: boolean;
  degraded: string[];
  took_ms: number;
}

export interface Turn {
  turn_id: string;
  number: number;
  role: string;
  speaker: string | null;
  content: string;
  at: string;
}

export interface SessionView {
  id: string;
  turns_count: number;
  summary: string | null;
  turns: Turn[];
}

export interface LedgerEntry {
  seq: number;
  at: string;
  action: string;
  ref: string;
  by: string;
  digest: string;
  previous: string;
  hash: string;
}

export interface Effect {
  memory_id: string;
  before: number;
  after: number;
  archived: boolean;
}

export interface Outcome {
  id: string;
  decision_id: string;
  result: string;
  score: number | null;
  note: string | null;
  evidence: string[];
  at: string;
  created_by: string;
  effects: Effect[];
  reverted_at: string | null;
}

export interface Decision {
  id: string;
  namespace: string;
  user_id: string;
  context: string;
  action: string;
  reasoning: string;
  summary: string;
  options: string[];
  memory_ids: string[];
  parent_id: string | null;
  agent_id: string | null;
  session_id: string | null;
  tags: string[];
  expected: string | null;
  outcome_due_at: string | null;
  occurred_at: string;
  created_by: string;
  outcomes: Outcome[];
  memories: Memory[];
  chain: Decision[];
}

export interface Replay {
  at: string;
  memories: {
    id: string;
    rested_on: boolean;
    then: Memory | null;
    now: { status: string; version: number; superseded_by: string | null } | null;
    changed: boolean;
  }[];
}

export interface Precedents {
  precedents: { decision: Decision; similarity: number; score: number; outcomes: Outcome[] }[];
  actions: {
    action: string;
    cases: number;
    n: number;
    successes: number;
    failures: number;
    mixed: number;
    rate: number | null;
    low: number | null;
    high: number | null;
  }[];
  warning: string | null;
  abstained: boolean;
}

export interface Finding {
  check: string;
  severity: string;
  detail: string;
  refs: string[];
  mend: string | null;
  state?: string | null;
  value?: number | null;
  parts?: Record<string, number> | null;
  covered_by?: string | null;
  /** What a language model says of a proposal; it decides nothing. */
  opinion?: string | null;
  at?: string | null;
  by?: string | null;
  note?: string | null;
}

export interface Audit {
  id: string;
  namespace: string;
  user_id: string | null;
  created_at: string;
  finished_at: string;
  kind?: string;
  checks: string[];
  counts: Record<string, number>;
  findings: Finding[];
  ok: boolean;
}

export interface MaintenanceRun {
  id: string;
  namespace: string;
  cadence: string;
  as_of: string;
  started_at: string;
  finished_at: string | null;
  state: string;
  dry_run: boolean;
  users: number;
  users_done: number;
  counts: Record<string, number>;
  tasks?: Record<
    string,
    {
      counts: Record<string, number>;
      changes: { user_id: string | null; action: string; refs: string[]; reason: string | null; undo: string | null }[];
    }
  >;
}

export interface ProfileEntry {
  key: string;
  subject: string | null;
  slot: string | null;
  tag: string | null;
  value: string;
  confidence: number;
  count: number;
  total: number;
  counts: { value: string; count: number }[];
  evidence: string[];
  confirmations: string[];
  last_updated: string;
  conflict: string | null;
}
