// What the agent decided, on what, and how it went.

import { useEffect, useState } from "preact/hooks";
import { api } from "../api";
import { useAction } from "../hooks";
import { count, percent, share, t, zone } from "../i18n";
import { Area, Badge, choices, Found, Input, Loading, Problem, Select, Tags, When } from "../parts/basics";
import { More, usePages } from "../parts/more";
import { Inline, Text } from "../parts/text";
import { go, href, type Route } from "../router";
import { session } from "../session";
import type { Decision, Outcome, Precedents } from "../types";
import { DecisionPage } from "./decision";

export function DecisionsView(props: { route: Route }) {
  const { id } = props.route;
  return id ? <DecisionPage key={id} id={id} /> : <List route={props.route} />;
}

function List(props: { route: Route }) {
  const get = (name: string) => props.route.params.get(name) ?? "";
  const sort = get("sort") || "-created_at";
  const query = { ...session.scope(), action: get("action"), tag: get("tag"), since: get("since"), until: get("until"), ...zone(get("since"), get("until")), sort, limit: 50 };
  const growing = usePages<Decision>("v1/decisions", query);
  return (
    <>
      <Filters at={props.route.params.toString()} get={get} sort={sort} />
      <PrecedentSearch />
      <h2>{t("decisions.list")}</h2>
      <Found of={growing.list} empty={(page) => !page.items.length && !page.next_cursor} nothing={t("decisions.empty")}>
        {(page) => (
          <>
            <ol class="cards">
              {page.items.map((decision) => (
                <li key={decision.id} class="card">
                  <DecisionHead decision={decision} heading="h3" />
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

function Filters(props: { at: string; get: (name: string) => string; sort: string }) {
  const [action, setAction] = useState(props.get("action"));
  const [tag, setTag] = useState(props.get("tag"));
  const [since, setSince] = useState(props.get("since"));
  const [until, setUntil] = useState(props.get("until"));
  // The address leads: a link, or the way back, changes the fields.
  useEffect(() => {
    setAction(props.get("action"));
    setTag(props.get("tag"));
    setSince(props.get("since"));
    setUntil(props.get("until"));
  }, [props.at]);
  const apply = (sort: string) => go("decisions", null, { action, tag, since, until, sort: sort === "-created_at" ? null : sort });
  return (
    <form
      class="filters"
      aria-label={t("filters")}
      onSubmit={(event) => {
        event.preventDefault();
        apply(props.sort);
      }}
    >
      <Input label={t("field.action")} value={action} onInput={setAction} />
      <Input label={t("field.tag")} value={tag} onInput={setTag} />
      <Input label={t("field.since")} type="date" value={since} onInput={setSince} />
      <Input label={t("field.until")} type="date" value={until} onInput={setUntil} />
      <Select label={t("field.sort")} value={props.sort} options={choices("sort", ["-created_at", "created_at"], null)} onChange={apply} />
      <button type="submit" class="primary">
        {t("filters.apply")}
      </button>
      <a class="button" href={href("decisions")}>
        {t("filters.clear")}
      </a>
    </form>
  );
}

export function DecisionHead(props: { decision: Decision; heading: "h2" | "h3" }) {
  const { decision } = props;
  const Heading = props.heading;
  const overdue = !decision.outcomes.length && decision.outcome_due_at && new Date(decision.outcome_due_at) < new Date();
  return (
    <>
      <Heading class="card-head">
        <a href={href("decisions", decision.id)}>
          <Inline value={decision.action} />
        </a>
      </Heading>
      <p class="meta">
        <When at={decision.occurred_at} /> {t("by")} <bdi>{decision.created_by}</bdi>{" "}
        {decision.outcomes.map((outcome) => (
          <OutcomeBadge key={outcome.id} outcome={outcome} />
        ))}
        {!decision.outcomes.length && <span class="badge">{t("outcome.none")}</span>}
        {overdue && <span class="badge severity-error">{t("outcome.overdue")}</span>}
      </p>
      <Text value={decision.context} most={300} />
      <Tags tags={decision.tags} />
    </>
  );
}

export function OutcomeBadge(props: { outcome: Outcome }) {
  const { outcome } = props;
  return (
    <>
      <Badge group="result" name={outcome.result} />{" "}
      {outcome.score !== null && <span>{share(outcome.score)}</span>}
      {outcome.reverted_at && <span class="badge">{t("outcome.reverted")}</span>}{" "}
    </>
  );
}

function PrecedentSearch() {
  const [context, setContext] = useState("");
  const [actions, setActions] = useState("");
  const [found, setFound] = useState<Precedents | null>(null);
  const action = useAction();
  const ask = () =>
    action.run(async () => {
      setFound(null);
      const named = actions.split("\n").map((line) => line.trim()).filter(Boolean);
      setFound(await api.post<Precedents>("v1/precedents", { ...session.scope(), context, actions: named, top_k: 10 }));
    }, t("precedents.came"));
  return (
    <details class="card">
      <summary>{t("precedents")}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <Area label={t("precedents.context")} value={context} onInput={setContext} rows={2} required />
        <Area label={t("precedents.actions")} value={actions} onInput={setActions} rows={2} />
        <button type="submit" class="primary" disabled={action.busy}>
          {t("precedents.ask")}
        </button>
      </form>
      {action.busy && <Loading />}
      <Problem error={action.error} />
      {found && <PrecedentAnswer answer={found} />}
    </details>
  );
}

function PrecedentAnswer(props: { answer: Precedents }) {
  const { answer } = props;
  return (
    <>
      {answer.abstained && <p class="notice">{t("precedents.abstained")}</p>}
      {answer.warning && <p class="notice" dir="auto">{answer.warning}</p>}
      {answer.actions.length > 0 && (
        <div class="scroll" tabIndex={0} role="group" aria-label={t("precedents.table")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("field.action")}</th>
                <th scope="col">{t("precedents.cases")}</th>
                <th scope="col">{t("result.success")}</th>
                <th scope="col">{t("result.failure")}</th>
                <th scope="col">{t("result.mixed")}</th>
                <th scope="col">{t("precedents.rate")}</th>
              </tr>
            </thead>
            <tbody>
              {answer.actions.map((row) => (
                <tr key={row.action}>
                  <th scope="row"><Inline value={row.action} /></th>
                  <td>{count(row.cases)}</td>
                  <td>{share(row.successes, 1)}</td>
                  <td>{share(row.failures, 1)}</td>
                  <td>{share(row.mixed, 1)}</td>
                  <td>
                    {percent(row.rate)}
                    {row.low !== null && <span class="hint"> ({percent(row.low)} – {percent(row.high)})</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ol class="cards">
        {answer.precedents.map((item) => (
          <li key={item.decision.id} class="card">
            <DecisionHead decision={{ ...item.decision, outcomes: item.outcomes }} heading="h3" />
            <p class="hint">{t("precedents.similar", { similarity: share(item.similarity), score: share(item.score) })}</p>
          </li>
        ))}
      </ol>
    </>
  );
}
