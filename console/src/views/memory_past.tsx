// Where a memory comes from: the turns it was taken from, its versions, its entries in the ledger.

import { useState } from "preact/hooks";
import { api, pages, seg } from "../api";
import { useAction, useLoad } from "../hooks";
import { count, t, term, when } from "../i18n";
import { announce } from "../live";
import { Found, Loading, Problem, When } from "../parts/basics";
import { Inline, Text } from "../parts/text";
import { say } from "../sayings";
import type { HistoryRow, LedgerEntry, Memory, Page, SessionView } from "../types";

export function Provenance(props: { memory: Memory }) {
  const { memory } = props;
  const id = memory.source.session_id ?? memory.session_id;
  return (
    <section class="card" aria-labelledby="provenance">
      <h2 id="provenance">{t("memory.provenance")}</h2>
      {id ? <Turns memory={memory} session={id} /> : <p class="empty">{t(memory.evidence?.length ? "provenance.evidence" : "provenance.none")}</p>}
    </section>
  );
}

function Turns(props: { memory: Memory; session: string }) {
  const { memory } = props;
  const found = useLoad(
    (signal) =>
      api.get<SessionView>(
        `v1/sessions/${seg(props.session)}`,
        { user_id: memory.user_id, namespace: memory.namespace },
        signal,
      ),
    [props.session, memory.user_id, memory.namespace],
  );
  return (
    <>
      <p class="meta">
        {t("field.session_id")} <bdi class="id">{props.session}</bdi>
      </p>
      <Found of={found} empty={(view) => !view.turns.length} nothing={t("provenance.no_turns")}>
        {(view) => (
          <>
            {memory.source.turn_id && !view.turns.some((turn) => turn.turn_id === memory.source.turn_id) && (
              <p class="notice">{t("provenance.gone")}</p>
            )}
            <ol class="turns">
              {view.turns.map((turn) => {
                const own = turn.turn_id === memory.source.turn_id;
                return (
                  <li key={turn.number} class={own ? "own" : ""} aria-current={own ? "true" : undefined}>
                    <p class="meta">
                      <strong>{term("role", turn.role)}</strong> {turn.speaker && <bdi>{turn.speaker}</bdi>}{" "}
                      <When at={turn.at} /> {own && <span class="badge">{t("provenance.own")}</span>}
                    </p>
                    <Text value={turn.content} most={500} />
                  </li>
                );
              })}
            </ol>
          </>
        )}
      </Found>
    </>
  );
}

/** What changes with every version and says nothing. */
const QUIET = new Set(["version", "updated_at", "updated_by", "pending", "enrichment"]);

/** Fields whose values are terms of the API, and the group of their words. */
const TERMS: Record<string, string> = {
  status: "status",
  kind: "kind",
  memory_type: "type",
  origin: "origin",
  audience: "audience",
  archived_because: "archived",
  deleted_because: "deleted",
};
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** A value of a field as people read it. */
function read(field: string, value: string): string {
  const group = TERMS[field];
  if (group) return say(term(group, value));
  return field.endsWith("_at") || field.startsWith("valid_") ? (MOMENT.test(value) ? when(value) : value) : value;
}

interface Change {
  field: string;
  before: string;
  after: string;
}

export function differences(before: Memory | null, after: Memory): Change[] {
  if (!before) return [];
  const old = before as unknown as Record<string, unknown>;
  const now = after as unknown as Record<string, unknown>;
  const told = (value: unknown) =>
    value === null || value === undefined || (Array.isArray(value) && !value.length)
      ? ""
      : typeof value === "string"
        ? value
        : Array.isArray(value) && value.every((item) => typeof item === "string")
          ? value.join(" · ")
          : JSON.stringify(value);
  return Object.keys(now)
    .filter((name) => !QUIET.has(name) && JSON.stringify(old[name] ?? null) !== JSON.stringify(now[name] ?? null))
    .map((name) => ({ field: name, before: read(name, told(old[name])), after: read(name, told(now[name])) }));
}

export function History(props: { id: string; version: number }) {
  const found = useLoad(
    (signal) => api.get<Page<HistoryRow>>(`v1/memories/${seg(props.id)}/history`, {}, signal),
    [props.id, props.version],
  );
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">{t("memory.history")}</h2>
      <Found of={found} empty={(page) => !page.items.length}>
        {(page) => (
          <ol class="versions">
            {page.items.map((row, index) => (
              <li key={row.version}>
                <p>
                  <strong>{t("version", { n: row.version })}</strong> {term("change", row.change)} {t("by")}{" "}
                  <bdi>{row.by}</bdi> · <When at={row.known_from} />
                  {row.known_to && (
                    <>
                      {" "}
                      – <When at={row.known_to} />
                    </>
                  )}
                </p>
                {row.reason && (
                  <p>
                    {t("field.reason")}
                    {": "}
                    <bdi>{say(row.reason)}</bdi>
                  </p>
                )}
                <Differences of={differences(page.items[index - 1]?.memory ?? null, row.memory)} />
              </li>
            ))}
          </ol>
        )}
      </Found>
    </section>
  );
}

function Differences(props: { of: Change[] }) {
  if (!props.of.length) return null;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={t("history.changes")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("history.field")}</th>
            <th scope="col">{t("history.before")}</th>
            <th scope="col">{t("history.after")}</th>
          </tr>
        </thead>
        <tbody>
          {props.of.map((item) => (
            <tr key={item.field}>
              <th scope="row">{term("field", item.field)}</th>
              <td>{item.before ? <del><Inline value={item.before} most={400} /></del> : "—"}</td>
              <td>{item.after ? <ins><Inline value={item.after} most={400} /></ins> : "—"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Entries that are looked through at most. */
const LEDGER = 50_000;

export function Ledger(props: { memory: Memory }) {
  const { memory } = props;
  const [entries, setEntries] = useState<LedgerEntry[] | null>(null);
  const [seen, setSeen] = useState(0);
  const action = useAction();
  const look = () =>
    action.run(async () => {
      const query = { user_id: memory.user_id, namespace: memory.namespace, limit: 200 };
      const all = await pages<LedgerEntry>("v1/ledger", query, LEDGER, undefined, setSeen);
      const own = all.filter((entry) => entry.ref === memory.id);
      setEntries(own);
      announce(t("ledger.found", { n: count(own.length) }));
    });
  return (
    <section class="card" aria-labelledby="ledger">
      <h2 id="ledger">{t("memory.ledger")}</h2>
      {entries === null && !action.busy && (
        <button type="button" onClick={() => void look()}>
          {t("ledger.look")}
        </button>
      )}
      {action.busy && <Loading text={t("ledger.seen", { n: count(seen) })} />}
      <Problem error={action.error} />
      {entries !== null && (
        <>
          <p class="hint">{t("ledger.found", { n: count(entries.length) })}</p>
          <ol class="versions">
            {entries.map((entry) => (
              <li key={entry.seq}>
                <p>
                  #{entry.seq} <strong>{term("change", entry.action)}</strong> {t("by")} <bdi>{entry.by}</bdi> ·{" "}
                  <When at={entry.at} />
                </p>
                <p class="hint">
                  {t("ledger.hash")} <code class="id">{entry.hash}</code>
                </p>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
