// Reports: checks with the call that mends each finding, proposals to forget, the weekly sample for people.

import { useState } from "preact/hooks";
import { api, seg } from "../api";
import { useAction, useLoad } from "../hooks";
import { count, t, term } from "../i18n";
import { Check, choices, Found, Problem, Select, When } from "../parts/basics";
import { More, usePages } from "../parts/more";
import { go, href, type Route } from "../router";
import { session } from "../session";
import type { Audit } from "../types";
import { Findings } from "./findings";

const KINDS = ["audit", "forgetting", "review"];

export function AuditsView(props: { route: Route }) {
  return props.route.id ? <Report key={props.route.id} id={props.route.id} /> : <List route={props.route} />;
}

function List(props: { route: Route }) {
  const kind = props.route.params.get("kind") ?? "";
  const mine = props.route.params.get("mine") === "yes";
  const query = { ...session.room(), ...(mine ? { user_id: session.user } : {}), kind, limit: 20 };
  const growing = usePages<Audit>("v1/audits", query);
  const filter = (to: { kind?: string; mine?: boolean }) =>
    go("audits", null, { kind: to.kind ?? kind, mine: (to.mine ?? mine) ? "yes" : null });
  return (
    <>
      <RunAudit />
      <div class="filters">
        <Select label={t("field.report")} value={kind} options={choices("audit", KINDS)} onChange={(to) => filter({ kind: to })} />
        {session.user && <Check label={t("audits.mine")} value={mine} onChange={(to) => filter({ mine: to })} />}
      </div>
      <Found of={growing.list} empty={(page) => !page.items.length && !page.next_cursor} nothing={t("audits.empty")}>
        {(page) => (
          <>
            <ol class="cards">
              {page.items.map((audit) => (
                <li key={audit.id} class="card">
                  <h2 class="card-head">
                    <a href={href("audits", audit.id)}>
                      {term("audit", audit.kind ?? "audit")} · <When at={audit.created_at} />
                    </a>
                  </h2>
                  <Sum audit={audit} />
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

function Sum(props: { audit: Audit }) {
  const { audit } = props;
  return (
    <p class="meta">
      <span class={`badge ${audit.ok ? "status-active" : "severity-error"}`}>{t(audit.ok ? "audit.ok" : "audit.not_ok")}</span>{" "}
      {audit.user_id ? <bdi>{audit.user_id}</bdi> : t("audit.everyone", { namespace: audit.namespace })}{" "}
      <span>{t("audit.findings", { n: count(audit.findings.length) })}</span>
    </p>
  );
}

function RunAudit() {
  const action = useAction();
  const run = (body: Record<string, unknown>) =>
    void action.run(async () => {
      const audit = await api.post<Audit>("v1/audits", body);
      location.hash = href("audits", audit.id);
    }, t("audit.ran"));
  return (
    <div class="card">
      <div class="buttons">
        {session.user && (
          <button type="button" class="primary" disabled={action.busy} onClick={() => run(session.scope())}>
            {t("audit.run.user")}
          </button>
        )}
        <button type="button" disabled={action.busy} onClick={() => run(session.room())}>
          {t("audit.run.all")}
        </button>
      </div>
      <Problem error={action.error} />
    </div>
  );
}

function Report(props: { id: string }) {
  const found = useLoad((signal) => api.get<Audit>(`v1/audits/${seg(props.id)}`, {}, signal), [props.id]);
  return (
    <>
      <p>
        <a href={href("audits")}>← {t("view.audits")}</a>
      </p>
      <Found of={found}>{(audit) => <Whole audit={audit} onChange={found.set} />}</Found>
    </>
  );
}

function Whole(props: { audit: Audit; onChange: (audit: Audit) => void }) {
  const { audit } = props;
  const action = useAction();
  const [asked, setAsked] = useState(false);
  const proposed = audit.findings.filter((finding) => finding.state === "proposed").length;
  const all = (verb: string) =>
    void action.run(async () => {
      props.onChange(await api.post<Audit>(`v1/audits/${seg(audit.id)}/${verb}`));
      setAsked(false);
    }, t("done.changed"));
  return (
    <>
      <article class="card">
        <h2 class="card-head">
          {term("audit", audit.kind ?? "audit")} · <When at={audit.created_at} />
        </h2>
        <Sum audit={audit} />
        <dl class="facts">
          {Object.entries(audit.counts).map(([name, value]) => (
            <div class="fact" key={name}>
              <dt>{term("check", name)}</dt>
              <dd>{count(value)}</dd>
            </div>
          ))}
        </dl>
        {proposed > 0 && (
          <div class="buttons">
            {asked ? (
              <>
                <button type="button" class="danger" disabled={action.busy} onClick={() => all("approve")}>
                  {t("propose.sure", { n: count(proposed) })}
                </button>
                <button type="button" onClick={() => setAsked(false)}>
                  {t("cancel")}
                </button>
              </>
            ) : (
              <>
                <button type="button" class="danger" onClick={() => setAsked(true)}>
                  {t("propose.approve_all", { n: count(proposed) })}
                </button>
                <button type="button" disabled={action.busy} onClick={() => all("oppose")}>
                  {t("propose.oppose_all")}
                </button>
              </>
            )}
          </div>
        )}
        <Problem error={action.error} />
      </article>
      {audit.findings.length ? (
        <Findings audit={audit} onChange={props.onChange} />
      ) : (
        <p class="empty">{t("audit.clean")}</p>
      )}
    </>
  );
}

