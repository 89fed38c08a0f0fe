// What the upkeep did, why, and how to take it back.

import { useState } from "preact/hooks";
import { api, seg } from "../api";
import { useAction, useLoad } from "../hooks";
import { count, t, term } from "../i18n";
import { Badge, Check, choices, Fact, Found, Problem, Select, When } from "../parts/basics";
import { More, usePages } from "../parts/more";
import { Named } from "../parts/named";
import { href, type Route } from "../router";
import { say } from "../sayings";
import { session } from "../session";
import type { MaintenanceRun } from "../types";

type Tasks = NonNullable<MaintenanceRun["tasks"]>;
type Change = Tasks[string]["changes"][number];

export function MaintenanceView(props: { route: Route }) {
  return props.route.id ? <Run key={props.route.id} id={props.route.id} /> : <List />;
}

function List() {
  const growing = usePages<MaintenanceRun>("v1/maintenance", { ...session.room(), limit: 20 });
  return (
    <>
      <Start />
      <Found of={growing.list} empty={(page) => !page.items.length && !page.next_cursor} nothing={t("maintenance.empty")}>
        {(page) => (
          <>
            <ol class="cards">
              {page.items.map((run) => (
                <li key={run.id} class="card">
                  <h2 class="card-head">
                    <a href={href("maintenance", run.id)}>
                      {term("cadence", run.cadence)} · <When at={run.as_of} />
                    </a>
                  </h2>
                  <Sum run={run} />
                </li>
              ))}
            </ol>
            <More of={growing} />
          </>
        )}
      </Found>
    </>
  );
}

function Start() {
  const [cadence, setCadence] = useState("daily");
  const [dry, setDry] = useState(true);
  const action = useAction();
  const start = () =>
    action.run(async () => {
      const run = await api.post<MaintenanceRun>("v1/maintenance", { ...session.room(), cadence, dry_run: dry });
      location.hash = href("maintenance", run.id);
    }, t("maintenance.started"));
  return (
    <form
      class="card"
      aria-label={t("maintenance.start")}
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <div class="filters">
        <Select label={t("field.cadence")} value={cadence} options={choices("cadence", ["daily", "weekly"], null)} onChange={setCadence} />
        <Check label={t("maintenance.dry")} value={dry} onChange={setDry} />
        <button type="submit" class={dry ? "primary" : "danger"} disabled={action.busy}>
          {t("maintenance.start")}
        </button>
      </div>
      <Problem error={action.error} />
    </form>
  );
}

function Sum(props: { run: MaintenanceRun }) {
  const { run } = props;
  return (
    <>
      <p class="meta">
        <Badge group="run" name={run.state} /> {run.dry_run && <span class="badge">{t("maintenance.dry")}</span>}{" "}
        {t("maintenance.users", { done: count(run.users_done), all: count(run.users) })}{" "}
        <When at={run.started_at} /> – <When at={run.finished_at} />
      </p>
      <ul class="tags">
        {Object.entries(run.counts).map(([name, value]) => (
          <li key={name}>
            {counted(name)} {count(value)}
          </li>
        ))}
      </ul>
    </>
  );
}

/** `forget.proposed` as people read it. */
function counted(name: string): string {
  const [task = "", ...what] = name.split(".");
  return what.length ? `${term("task", task)} · ${term("change", what.join("."))}` : term("task", name);
}

function Run(props: { id: string }) {
  const found = useLoad((signal) => api.get<MaintenanceRun>(`v1/maintenance/${seg(props.id)}`, {}, signal), [props.id]);
  return (
    <>
      <p>
        <a href={href("maintenance")}>← {t("view.maintenance")}</a>
      </p>
      <Found of={found}>
        {(run) => (
          <>
            <article class="card">
              <h2 class="card-head">
                {term("cadence", run.cadence)} · <When at={run.as_of} />
              </h2>
              <Sum run={run} />
              {run.state === "running" && (
                <button type="button" onClick={found.reload}>
                  {t("refresh")}
                </button>
              )}
            </article>
            {busy(run, true).map(([name, task]) => (
              <Task key={name} name={name} task={task} dry={run.dry_run} />
            ))}
            {busy(run, false).length > 0 && (
              <p class="hint">
                {t("maintenance.idle")}{" "}
                {busy(run, false)
                  .map(([name]) => term("task", name))
                  .join(" · ")}
              </p>
            )}
          </>
        )}
      </Found>
    </>
  );
}

/** The tasks that did something, or those that found nothing to do. */
function busy(run: MaintenanceRun, did: boolean): [string, Tasks[string]][] {
  return Object.entries(run.tasks ?? {}).filter(
    ([, task]) => (task.changes.length > 0 || Object.keys(task.counts).length > 0) === did,
  );
}

const PAGE = 50;

function Task(props: { name: string; task: Tasks[string]; dry: boolean }) {
  const { task } = props;
  const [most, setMost] = useState(PAGE);
  return (
    <section class="card" aria-label={term("task", props.name)}>
      <h2>{term("task", props.name)}</h2>
      <dl class="facts">
        {Object.entries(task.counts).map(([name, value]) => (
          <Fact key={name} name={term("change", name)}>
            {count(value)}
          </Fact>
        ))}
      </dl>
      {!task.changes.length && <p class="empty">{t("maintenance.no_changes")}</p>}
      <ol class="versions">
        {task.changes.slice(0, most).map((change, index) => (
          <ChangeRow key={index} change={change} dry={props.dry} />
        ))}
      </ol>
      {task.changes.length > most && (
        <button type="button" onClick={() => setMost(most + 4 * PAGE)}>
          {t("more")} ({count(task.changes.length - most)})
        </button>
      )}
    </section>
  );
}

/** Ways back that need no more than their address, and for proposals the memories meant. */
const UNDO =
  /^POST \/(v1\/(?:memories\/[0-9A-Z]{26}\/restore|conflicts\/[0-9A-Z]{26}\/undo|audits\/[0-9A-Z]{26}\/(?:undo|oppose)))/;
/** The sign of a session is no id. */
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** What was made of many is taken back by forgetting it: they stand again as they were. */
const UNMAKE = /^DELETE \/(v1\/memories\/[0-9A-Z]{26})$/;
/** What sleeps in the archive is woken by confirming it. */
const WAKE = /^PATCH \/(v1\/memories\/[0-9A-Z]{26}) \{"confirmed": true\}$/;

function ChangeRow(props: { change: Change; dry: boolean }) {
  const { change } = props;
  const action = useAction();
  const [undone, setUndone] = useState(false);
  const way = change.undo ? UNDO.exec(change.undo)?.[1] : null;
  const wake = change.undo ? WAKE.exec(change.undo)?.[1] : null;
  const unmake = change.undo ? UNMAKE.exec(change.undo)?.[1] : null;
  return (
    <li>
      <p>
        <strong>{term("change", change.action)}</strong> {change.user_id && <bdi>{change.user_id}</bdi>}{" "}
        {change.refs.slice(0, 10).map((id) => (
          <span key={id}>
            {ULID.test(id) ? <Named id={id} /> : <code class="id">{id}</code>}{" "}
          </span>
        ))}
        {change.refs.length > 10 && <span class="hint">+{count(change.refs.length - 10)}</span>}
      </p>
      {change.reason && (
        <p class="hint">
          <bdi>{say(change.reason)}</bdi>
        </p>
      )}
      {change.undo && (
        <p class="hint">
          {t("maintenance.undo")} <code>{change.undo}</code>{" "}
          {(way || unmake || wake) && !undone && !props.dry && (
            <button
              type="button"
              disabled={action.busy}
              onClick={() =>
                void action.run(async () => {
                  if (unmake) await api.delete(unmake, { reason: t("maintenance.unmade") });
                  else if (wake) await api.patch(wake, { confirmed: true });
                  else if (way) await api.post(way, way.includes("/audits/") ? { memory_ids: change.refs } : {});
                  setUndone(true);
                }, t("done.undone"))
              }
            >
              {t("undo")}
            </button>
          )}
          {undone && <span class="badge status-active">{t("done.undone")}</span>}
        </p>
      )}
      <Problem error={action.error} />
    </li>
  );
}
