// A list that grows page by page.

import { useEffect, useState } from "preact/hooks";
import { api, type Query } from "../api";
import { useAction, useLoad, type Loaded } from "../hooks";
import { count, t } from "../i18n";
import { announce } from "../live";
import type { Page } from "../types";
import { Problem } from "./basics";

export interface Growing<T> {
  list: Loaded<Page<T>> & { reload: () => void; set: (page: Page<T>) => void };
  more: () => Promise<void>;
  ended: boolean;
  busy: boolean;
  error: ReturnType<typeof useAction>["error"];
}

export function usePages<T>(path: string, query: Query): Growing<T> {
  const list = useLoad((signal) => api.get<Page<T>>(path, query, signal), [path, query]);
  const { busy, error, run, clear } = useAction();
  const [asked] = useState({ now: 0 });
  useEffect(() => {
    asked.now += 1;
    clear();
  }, [path, JSON.stringify(query)]);
  const more = async () => {
    const before = list.data;
    if (!before?.next_cursor) return;
    const mine = asked.now;
    await run(async () => {
      const page = await api.get<Page<T>>(path, { ...query, cursor: before.next_cursor });
      // Another question was asked meanwhile: this answer is not its own.
      if (mine !== asked.now) return;
      list.set({ ...page, items: [...before.items, ...page.items] });
      announce(t("more.came", { n: count(page.items.length) }));
    });
  };
  return { list, more, ended: !list.data?.next_cursor, busy, error };
}

export function More<T>(props: { of: Growing<T> }) {
  const { of } = props;
  const page = of.list.data;
  if (!page) return null;
  return (
    <div class="more">
      <p class="hint">{t(of.ended ? "more.all" : "more.shown", { n: count(page.items.length) })}</p>
      {!of.ended && (
        <button type="button" disabled={of.busy} onClick={() => void of.more()}>
          {of.busy ? t("loading") : t("more")}
        </button>
      )}
      <Problem error={of.error} />
    </div>
  );
}
