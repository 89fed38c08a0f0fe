// The address after the hash: #/view/id?name=value. It never leaves the browser, and never holds a key.

import { session } from "./session";

export interface Route {
  view: string;
  id: string | null;
  params: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...rest] = path.split("/");
  let id: string | null = rest.length ? rest.join("/") : null;
  try {
    id = id === null ? null : decodeURIComponent(id);
  } catch {
    id = null;
  }
  return { view: view || "timeline", id, params: new URLSearchParams(query) };
}

/** A link to a view, for the user and namespace at hand. */
export function href(view: string, id?: string | null, params: Record<string, string | null | undefined> = {}): string {
  const query = new URLSearchParams();
  if (session.user) query.set("user", session.user);
  if (session.namespace) query.set("ns", session.namespace);
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  const text = query.toString();
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${text ? `?${text}` : ""}`;
}

export function go(view: string, id?: string | null, params: Record<string, string | null | undefined> = {}): void {
  location.hash = href(view, id, params);
}
