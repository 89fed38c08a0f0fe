// The closed vocabularies of the API.

export const TYPES = ["working", "short_term", "long_term", "trace"] as const;
export const KINDS = ["preference", "fact", "conclusion", "correction", "event", "instruction", "summary"] as const;
export const ORIGINS = ["user", "agent", "tool", "document", "import"] as const;
export const STATUSES = [
  "active",
  "tentative",
  "disputed",
  "superseded",
  "merged",
  "archived",
  "deleted",
  "quarantined",
] as const;
export const PROFILES = ["assistant", "hindsight", "episodic", "support", "experience"] as const;
export const PARTS = ["vector", "keyword", "recency", "importance", "confidence", "time", "speaker"] as const;
export const RESULTS = ["success", "failure", "mixed", "unknown"] as const;
