// What a user's agent remembers, newest first, and what became of it.

import { useEffect, useState } from "preact/hooks";
import { api, seg } from "../api";
import { useLoad } from "../hooks";
import { t, term, when, zone } from "../i18n";
import { Badge, choices, Found, Input, MemoryLink, Select, Tags, When } from "../parts/basics";
import { More, usePages } from "../parts/more";
import { Named } from "../parts/named";
import { Text } from "../parts/text";
import { go, href, type Route } from "../router";
import { say } from "../sayings";
import { session } from "../session";
import type { HistoryRow, Memory, Page } from "../types";
import { KINDS, ORIGINS, STATUSES, TYPES } from "../vocabulary";

const FILTERS = ["memory_type", "kind", "status", "origin", "tag", "since", "until", "sort"] as const;
type FilterName = (typeof FILTERS)[number];
const SORTS = ["-created_at", "created_at", "-importance", "importance"];

export function TimelineView(props: { route: Route }) {
  const { params } = props.route;
  const get = (name: FilterName) => params.get(name) ?? "";
  const sort = get("sort") || "-created_at";
  const status = get("status");
  const query = {
    ...session.scope(),
    memory_type: get("memory_type"),
    kind: get("kind"),
    origin: get("origin"),
    tag: get("tag"),
    since: get("since"),
    until: get("until"),
    sort,
    status: status === "all" ? STATUSES : status ? [status] : [],
    ...zone(get("since"), get("until")),
    limit: 50,
  };
  const growing = usePages<Memory>("v1/memories", query);
  return (
    <>
      <Filters at={params.toString()} get={get} sort={sort} />
      <Found of={growing.list} empty={(page) => !page.items.length && !page.next_cursor} nothing={t("timeline.empty")}>
        {(page) => (
          <>
            <Days memories={page.items} byDay={!sort.includes("importance")} />
            <More of={growing} />
          </>
        )}
      </Found>
    </>
  );
}

function Filters(props: { at: string; get: (name: FilterName) => string; sort: string }) {
  const told = () =>
    Object.fromEntries(FILTERS.map((name) => [name, name === "sort" ? props.sort : props.get(name)]));
  const [values, setValues] = useState(told);
  // The address leads: a link, or the way back, changes the fields.
  useEffect(() => setValues(told), [props.at]);
  const value = (name: FilterName) => values[name] ?? "";
  const apply = (changed: Record<string, string>) =>
    go("timeline", null, { ...changed, sort: changed.sort === "-created_at" ? null : changed.sort });
  const put = (name: FilterName, to: string) => setValues((before) => ({ ...before, [name]: to }));
  const choose = (name: FilterName) => (to: string) => {
    put(name, to);
    apply({ ...values, [name]: to });
  };
  return (
    <form
      class="filters"
      aria-label={t("filters")}
      onSubmit={(event) => {
        event.preventDefault();
        apply(values);
      }}
    >
      <Select label={t("field.status")} value={value("status")} onChange={choose("status")}
        options={[["", t("status.live")], ["all", t("status.all")], ...choices("status", STATUSES, null)]} />
      <Select label={t("field.memory_type")} value={value("memory_type")} onChange={choose("memory_type")} options={choices("type", TYPES)} />
      <Select label={t("field.kind")} value={value("kind")} onChange={choose("kind")} options={choices("kind", KINDS)} />
      <Select label={t("field.origin")} value={value("origin")} onChange={choose("origin")} options={choices("origin", ORIGINS)} />
      <Input label={t("field.tag")} value={value("tag")} onInput={(to) => put("tag", to)} />
      <Input label={t("field.since")} type="date" value={value("since")} onInput={(to) => put("since", to)} />
      <Input label={t("field.until")} type="date" value={value("until")} onInput={(to) => put("until", to)} />
      <Select label={t("field.sort")} value={value("sort")} onChange={choose("sort")} options={choices("sort", SORTS, null)} />
      <button type="submit" class="primary">
        {t("filters.apply")}
      </button>
      <a class="button" href={href("timeline")}>
        {t("filters.clear")}
      </a>
    </form>
  );
}

function Days(props: { memories: Memory[]; byDay: boolean }) {
  if (!props.byDay)
    return (
      <ol class="cards" aria-label={t("view.timeline")}>
        {props.memories.map((memory) => (
          <Item key={memory.id} memory={memory} heading="h2" />
        ))}
      </ol>
    );
  const days = new Map<string, Memory[]>();
  for (const memory of props.memories) {
    const day = when(memory.created_at, false);
    days.set(day, [...(days.get(day) ?? []), memory]);
  }
  return (
    <>
      {[...days].map(([day, memories]) => (
        <section key={day} class="day">
          <h2>{day}</h2>
          <ol class="cards">
            {memories.map((memory) => (
              <Item key={memory.id} memory={memory} heading="h3" />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function Item(props: { memory: Memory; heading: "h2" | "h3" }) {
  const { memory } = props;
  const [open, setOpen] = useState(false);
  const Heading = props.heading;
  return (
    <li class="card">
      <Heading class="card-head">
        <MemoryLink id={memory.id} text={memory.summary || memory.id} />
      </Heading>
      <p class="meta">
        <Badge group="status" name={memory.status} /> <Badge group="kind" name={memory.kind} />{" "}
        <Badge group="type" name={memory.memory_type} />{" "}
        <span>{t("from", { origin: term("origin", memory.origin) })}</span> <When at={memory.created_at} />{" "}
        {apart(memory) && (
          <span>
            {t("since.then")} <When at={memory.valid_from} />
          </span>
        )}{" "}
        <span>{t("importance.is", { n: memory.importance.toFixed(2) })}</span>
        {memory.pending && <span class="badge">{t("pending")}</span>}
      </p>
      {memory.content !== memory.summary && <Text value={memory.content} most={280} />}
      <Tags tags={memory.tags} />
      <Fate memory={memory} />
      <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? t("why.less") : t("why.more")}
      </button>
      {open && <Story id={memory.id} />}
    </li>
  );
}

/** Whether it tells of another time than the one it was written at; the filter by time goes by that one. */
function apart(memory: Memory): boolean {
  return Math.abs(Date.parse(memory.valid_from) - Date.parse(memory.created_at)) >= 60_000;
}

/** What became of a memory, and why, in a line. */
export function Fate(props: { memory: Memory }) {
  const { memory } = props;
  return (
    <>
      {memory.superseded_by && (
        <p class="fate">
          {t("fate.superseded")} <Named id={memory.superseded_by} />
        </p>
      )}
      {memory.merged_into && (
        <p class="fate">
          {t("fate.merged")} <Named id={memory.merged_into} />
        </p>
      )}
      {memory.consolidated_into && (
        <p class="fate">
          {t("fate.consolidated")} <Named id={memory.consolidated_into} />
        </p>
      )}
      {memory.archived_because && (
        <p class="fate">{t("fate.archived", { why: term("archived", memory.archived_because) })}</p>
      )}
      {memory.deleted_at && (
        <p class="fate">
          {t("fate.deleted", { at: when(memory.deleted_at), by: memory.deleted_by ?? "?" })}{" "}
          <bdi>{say(term("deleted", memory.deleted_because ?? ""))}</bdi>
        </p>
      )}
      {memory.conflicts.map((id) => (
        <p class="fate" key={id}>
          {t("fate.disputed")} <a href={href("conflicts", id)}>{t("conflict.see")}</a>
        </p>
      ))}
    </>
  );
}

function Story(props: { id: string }) {
  const found = useLoad(
    (signal) => api.get<Page<HistoryRow>>(`v1/memories/${seg(props.id)}/history`, {}, signal),
    [props.id],
  );
  return (
    <Found of={found} empty={(page) => !page.items.length}>
      {(page) => (
        <ol class="story">
          {page.items.map((row) => (
            <li key={row.version}>
              <When at={row.known_from} /> — <strong>{term("change", row.change)}</strong> {t("by")}{" "}
              <bdi>{row.by}</bdi>
              {row.reason && (
                <>
                  {": "}
                  <bdi>{say(row.reason)}</bdi>
                </>
              )}
            </li>
          ))}
        </ol>
      )}
    </Found>
  );
}
