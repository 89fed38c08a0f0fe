// Calls to the API this page was served with: same origin, relative to the page (a stage prefix stays), and the key in
// a header only.

import { session } from "./session";

export interface FieldError {
  field: string;
  rule: string;
  message: string;
}

/** A refusal as the server told it (RFC 9457), or what stands for one when no server answered (status 0). */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly errors: FieldError[] = [],
    readonly requestId: string | null = null,
    /** The server has no such route: an older one, or another stage. */
    readonly missing = false,
  ) {
    super(detail || title);
  }
}

export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>;

const BASE = new URL(".", document.baseURI);

export const seg = encodeURIComponent;

function address(path: string, query: Query): string {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(item));
  }
  return url.href;
}

interface Asked {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  /** The key to try instead of the one that is held. */
  key?: string | null;
}

async function call<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
  const headers: Record<string, string> = { accept: "application/json" };
  const key = asked.key === undefined ? session.key : asked.key;
  if (key) headers["x-api-key"] = key;
  if (asked.body !== undefined) headers["content-type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(address(path, asked.query ?? {}), {
      method,
      headers,
      body: asked.body === undefined ? null : JSON.stringify(asked.body),
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: asked.signal ?? null,
    });
  } catch (error) {
    if (asked.signal?.aborted) throw error;
    throw new Refusal(0, "offline", "");
  }
  const text = await answer.text();
  let found: unknown = null;
  try {
    found = text ? JSON.parse(text) : null;
  } catch {
    // Told below: a status without a document.
  }
  if (answer.ok) {
    if (found === null) throw new Refusal(answer.status, "unreadable", "");
    return found as T;
  }
  const refusal = refused(answer.status, found);
  if (answer.status === 401 && asked.key === undefined) session.refused();
  throw refusal;
}

function refused(status: number, found: unknown): Refusal {
  const told = (found ?? {}) as Record<string, unknown>;
  const detail = String(told.detail ?? told.message ?? "");
  // A gateway that knows no such path answers 403 with a text of its own.
  const missing =
    (status === 404 && detail === "no such route") || status === 405 || (status === 403 && told.type === undefined);
  return new Refusal(
    status,
    String(told.title ?? ""),
    detail,
    Array.isArray(told.errors) ? (told.errors as FieldError[]) : [],
    typeof told.request_id === "string" ? told.request_id : null,
    missing,
  );
}

export const api = {
  get: <T>(path: string, query: Query = {}, signal?: AbortSignal) =>
    call<T>("GET", path, { query, ...(signal ? { signal } : {}) }),
  post: <T>(path: string, body: unknown = {}, signal?: AbortSignal) =>
    call<T>("POST", path, { body, ...(signal ? { signal } : {}) }),
  patch: <T>(path: string, body: unknown) => call<T>("PATCH", path, { body }),
  delete: <T>(path: string, query: Query = {}) => call<T>("DELETE", path, { query }),
  /** Whether the API takes this key (null: none at all). */
  async admits(key: string | null): Promise<boolean> {
    // No header can hold another character, and no key has one: the browser would not even ask.
    if (key !== null && !/^[\x21-\x7e]+$/.test(key)) return false;
    try {
      await call("GET", "v1/memories", { query: { user_id: "console", limit: 1 }, key });
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return false;
      // Known, but not allowed to read: the views tell what it lacks.
      if (error instanceof Refusal && error.status === 403 && !error.missing) return true;
      throw error;
    }
  },
};

/** All pages of a list, up to ``most`` items. ``found`` sees them as they come. */
export async function pages<T>(
  path: string,
  query: Query,
  most: number,
  signal?: AbortSignal,
  found?: (count: number) => void,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: T[]; next_cursor: string | null } = await api.get(path, { ...query, cursor }, signal);
    all.push(...page.items);
    found?.(all.length);
    cursor = page.next_cursor;
  } while (cursor !== null && all.length < most);
  return all;
}
