// One decision: its reasons, its chain, what it rested on then and now, and its outcomes.

import { useState } from "preact/hooks";
import { api, seg } from "../api";
import { useAction, useLoad } from "../hooks";
import { share, t } from "../i18n";
import { Area, Badge, choices, Fact, Found, Input, MemoryLink, Problem, Select, When } from "../parts/basics";
import { Named } from "../parts/named";
import { Inline, Text } from "../parts/text";
import { href } from "../router";
import type { Decision, Outcome, Replay } from "../types";
import { RESULTS } from "../vocabulary";
import { DecisionHead, OutcomeBadge } from "./decisions";

export function DecisionPage(props: { id: string }) {
  const path = `v1/decisions/${seg(props.id)}`;
  const found = useLoad((signal) => api.get<Decision>(path, {}, signal), [props.id]);
  return (
    <>
      <p>
        <a href={href("decisions")}>← {t("view.decisions")}</a>
      </p>
      <Found of={found}>
        {(decision) => (
          <>
            <article class="card">
              <DecisionHead decision={decision} heading="h2" />
              <dl class="facts">
                {decision.reasoning && (
                  <Fact name={t("decision.reasoning")}>
                    <Text value={decision.reasoning} />
                  </Fact>
                )}
                {decision.options.length > 0 && (
                  <Fact name={t("decision.options")}>
                    <ul>
                      {decision.options.map((option) => (
                        <li key={option}>
                          <Inline value={option} />
                        </li>
                      ))}
                    </ul>
                  </Fact>
                )}
                {decision.expected && (
                  <Fact name={t("decision.expected")}>
                    <Text value={decision.expected} />
                  </Fact>
                )}
                {decision.outcome_due_at && (
                  <Fact name={t("decision.due")}>
                    <When at={decision.outcome_due_at} />
                  </Fact>
                )}
              </dl>
            </article>
            <Chain decision={decision} />
            <RestedOn decision={decision} />
            <Outcomes decision={decision} reload={found.reload} />
          </>
        )}
      </Found>
    </>
  );
}

function Chain(props: { decision: Decision }) {
  const { decision } = props;
  const parents = parentsOf(decision);
  const after = decision.chain.filter((item) => !parents.includes(item));
  const line = (item: Decision) => (
    <>
      <a href={href("decisions", item.id)}>
        <Inline value={item.action} />
      </a>{" "}
      <span class="hint">
        <Inline value={item.summary} /> · <When at={item.occurred_at} date />
      </span>
    </>
  );
  return (
    <section class="card" aria-labelledby="chain">
      <h2 id="chain">{t("decision.chain")}</h2>
      {!decision.chain.length && <p class="empty">{t("decision.chain.none")}</p>}
      {decision.chain.length > 0 && (
        <ol class="chain">
          {[...parents].reverse().map((item) => (
            <li key={item.id}>{line(item)}</li>
          ))}
          <li aria-current="true">
            <strong>
              <Inline value={decision.action} />
            </strong>{" "}
            <span class="badge">{t("decision.this")}</span>
            {after.length > 0 && (
              <ol>
                {after.map((item) => (
                  <li key={item.id}>{line(item)}</li>
                ))}
              </ol>
            )}
          </li>
        </ol>
      )}
    </section>
  );
}

/** The decisions before it, nearest first. */
function parentsOf(decision: Decision): Decision[] {
  const byId = new Map(decision.chain.map((item) => [item.id, item]));
  const found: Decision[] = [];
  let next = decision.parent_id;
  while (next) {
    const parent = byId.get(next);
    if (!parent || found.includes(parent)) break;
    found.push(parent);
    next = parent.parent_id;
  }
  return found;
}

function RestedOn(props: { decision: Decision }) {
  const { decision } = props;
  const [replay, setReplay] = useState<Replay | null>(null);
  const action = useAction();
  return (
    <section class="card" aria-labelledby="rested">
      <h2 id="rested">{t("decision.rested")}</h2>
      {!decision.memories.length && <p class="empty">{t("decision.rested.none")}</p>}
      <ul class="rows">
        {decision.memories.map((memory) => (
          <li key={memory.id}>
            <MemoryLink id={memory.id} text={memory.summary || memory.id} /> <Badge group="status" name={memory.status} />
          </li>
        ))}
      </ul>
      <button
        type="button"
        disabled={action.busy}
        onClick={() => void action.run(async () => setReplay(await api.get<Replay>(`v1/decisions/${seg(decision.id)}/replay`)), t("replay.came"))}
      >
        {t("replay")}
      </button>
      <Problem error={action.error} />
      {replay && (
        <div class="scroll" tabIndex={0} role="group" aria-label={t("replay")}>
          <table>
            <caption>
              {t("replay.at")} <When at={replay.at} />
            </caption>
            <thead>
              <tr>
                <th scope="col">{t("view.memory")}</th>
                <th scope="col">{t("replay.then")}</th>
                <th scope="col">{t("replay.now")}</th>
              </tr>
            </thead>
            <tbody>
              {replay.memories.map((item) => (
                <tr key={item.id}>
                  <th scope="row">
                    <MemoryLink id={item.id} text={item.then?.summary} /> {item.rested_on && <span class="badge">{t("decision.rested")}</span>}
                  </th>
                  <td>{item.then ? <Inline value={item.then.summary} /> : "—"}</td>
                  <td>
                    {item.now ? <Badge group="status" name={item.now.status} /> : "—"}{" "}
                    {item.changed && <span class="badge severity-warning">{t("replay.changed")}</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Outcomes(props: { decision: Decision; reload: () => void }) {
  const { decision } = props;
  return (
    <section class="card" aria-labelledby="outcomes">
      <h2 id="outcomes">{t("decision.outcomes")}</h2>
      {!decision.outcomes.length && <p class="empty">{t("outcome.none")}</p>}
      <ol class="versions">
        {decision.outcomes.map((outcome) => (
          <OutcomeRow key={outcome.id} outcome={outcome} reload={props.reload} />
        ))}
      </ol>
      <RecordOutcome id={decision.id} reload={props.reload} />
    </section>
  );
}

function OutcomeRow(props: { outcome: Outcome; reload: () => void }) {
  const { outcome } = props;
  const action = useAction();
  const revert = () =>
    action.run(async () => {
      await api.post(`v1/outcomes/${seg(outcome.id)}/revert`);
      props.reload();
    }, t("done.reverted"));
  return (
    <li>
      <p>
        <OutcomeBadge outcome={outcome} /> <When at={outcome.at} /> {t("by")} <bdi>{outcome.created_by}</bdi>
      </p>
      {outcome.note && <Text value={outcome.note} />}
      {outcome.effects.length > 0 && (
        <ul>
          {outcome.effects.map((effect) => (
            <li key={effect.memory_id}>
              <Named id={effect.memory_id} /> {t("field.importance")} {share(effect.before)} → {share(effect.after)}{" "}
              {effect.archived && <Badge group="status" name="archived" />}
            </li>
          ))}
        </ul>
      )}
      {!outcome.reverted_at && (
        <button type="button" disabled={action.busy} onClick={() => void revert()}>
          {t("outcome.revert")}
        </button>
      )}
      <Problem error={action.error} />
    </li>
  );
}

function RecordOutcome(props: { id: string; reload: () => void }) {
  const [result, setResult] = useState<string>("success");
  const [score, setScore] = useState("");
  const [note, setNote] = useState("");
  const action = useAction();
  const save = () =>
    action.run(async () => {
      const body: Record<string, unknown> = { result };
      if (score) body.score = Number(score);
      if (note.trim()) body.note = note.trim();
      await api.post(`v1/decisions/${seg(props.id)}/outcomes`, body);
      setScore("");
      setNote("");
      props.reload();
    }, t("done.recorded"));
  return (
    <form
      aria-label={t("outcome.record")}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h3>{t("outcome.record")}</h3>
      <div class="filters">
        <Select label={t("field.result")} value={result} options={choices("result", RESULTS, null)} onChange={setResult} />
        <Input label={t("field.score")} type="number" min={-1} max={1} step="any" value={score} onInput={setScore} hint={t("outcome.score")} />
      </div>
      <Area label={t("field.note")} value={note} onInput={setNote} rows={2} />
      <Problem error={action.error} />
      <button type="submit" class="primary" disabled={action.busy}>
        {t("save")}
      </button>
    </form>
  );
}
