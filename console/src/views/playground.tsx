// Recall as the agent gets it, with the reasons. Every call says `explain`, so that looking does not count as use.

import { useState } from "preact/hooks";
import { api } from "../api";
import { useAction } from "../hooks";
import { count, t } from "../i18n";
import { announce } from "../live";
import { Area, Check, choices, Input, Loading, Problem, Select } from "../parts/basics";
import type { Route } from "../router";
import { session } from "../session";
import type { ContextAnswer, RecallAnswer } from "../types";
import { PARTS, PROFILES } from "../vocabulary";
import { fromLocal } from "./memory_edit";
import { Answer, Block } from "./playground_answer";

interface Form {
  query: string;
  profile: string;
  top_k: string;
  max_tokens: string;
  known_at: string;
  valid_at: string;
  superseded: boolean;
  archived: boolean;
  own: boolean;
  weights: Record<string, string>;
}

export function PlaygroundView(props: { route: Route }) {
  const [form, setForm] = useState<Form>({
    query: props.route.params.get("q") ?? "",
    profile: "assistant",
    top_k: "5",
    max_tokens: "1000",
    known_at: "",
    valid_at: "",
    superseded: false,
    archived: false,
    own: false,
    weights: { vector: "0.4", keyword: "0.4", recency: "0.05", importance: "0.1", confidence: "0", time: "0", speaker: "0.05" },
  });
  const [recall, setRecall] = useState<RecallAnswer | null>(null);
  const [context, setContext] = useState<ContextAnswer | null>(null);
  const asking = useAction();
  const blocking = useAction();
  const put = <K extends keyof Form>(name: K) => (value: Form[K]) => setForm((before) => ({ ...before, [name]: value }));

  /** Own weights begin with those that the last answer was ranked by. */
  const own = (on: boolean) => {
    const last = recall?.explain?.profile.weights;
    setForm((before) => ({
      ...before,
      own: on,
      weights: on && last ? Object.fromEntries(PARTS.map((part) => [part, String(last[part] ?? 0)])) : before.weights,
    }));
  };

  const ask = async () => {
    const body: Record<string, unknown> = {
      ...session.scope(),
      query: form.query,
      profile: form.profile,
      top_k: Number(form.top_k),
      explain: true,
    };
    if (form.known_at) body.known_at = fromLocal(form.known_at);
    if (form.valid_at) body.valid_at = fromLocal(form.valid_at);
    if (form.superseded) body.include_superseded = true;
    if (form.archived) body.include_archived = true;
    if (form.own)
      body.weights = Object.fromEntries(PARTS.map((part) => [part, Number(form.weights[part] ?? 0)]));
    await Promise.all([
      asking.run(async () => {
        setRecall(null);
        const answer = await api.post<RecallAnswer>("v1/recall", body);
        setRecall(answer);
        announce(t("recall.came", { n: count(answer.hits.length) }));
      }),
      blocking.run(async () => {
        setContext(null);
        setContext(await api.post<ContextAnswer>("v1/context", { ...body, max_tokens: Number(form.max_tokens) }));
      }),
    ]);
  };
  return (
    <>
      <form
        class="card"
        aria-label={t("view.playground")}
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <p class="hint">{t("recall.about")}</p>
        <Area label={t("field.query")} value={form.query} onInput={put("query")} rows={2} required />
        <div class="filters">
          <Select label={t("field.profile")} value={form.profile} options={choices("profile", PROFILES, null)} onChange={put("profile")} />
          <Input label={t("field.top_k")} type="number" min={1} max={50} value={form.top_k} onInput={put("top_k")} required />
          <Input label={t("field.max_tokens")} type="number" min={50} max={32000} value={form.max_tokens} onInput={put("max_tokens")} required />
          <Input label={t("field.known_at")} type="datetime-local" value={form.known_at} onInput={put("known_at")} hint={t("recall.known_at")} />
          <Input label={t("field.valid_at")} type="datetime-local" value={form.valid_at} onInput={put("valid_at")} hint={t("recall.valid_at")} />
        </div>
        <div class="checks">
          <Check label={t("recall.superseded")} value={form.superseded} onChange={put("superseded")} />
          <Check label={t("recall.archived")} value={form.archived} onChange={put("archived")} />
          <Check label={t("recall.own")} value={form.own} onChange={own} />
        </div>
        {form.own && (
          <fieldset class="weights">
            <legend>{t("recall.weights")}</legend>
            {PARTS.map((part) => (
              <Input key={part} label={t(`part.${part}`)} type="number" min={0} max={1} step="any" value={form.weights[part] ?? "0"} required
                onInput={(value) => setForm((before) => ({ ...before, weights: { ...before.weights, [part]: value } }))} />
            ))}
          </fieldset>
        )}
        <button type="submit" class="primary" disabled={asking.busy}>
          {t("recall.ask")}
        </button>
      </form>
      <section aria-labelledby="hits" aria-busy={asking.busy}>
        <h2 id="hits">{t("recall.hits")}</h2>
        {asking.busy && <Loading />}
        <Problem error={asking.error} />
        {recall ? <Answer answer={recall} /> : !asking.busy && !asking.error && <p class="empty">{t("recall.none")}</p>}
      </section>
      <section aria-labelledby="block" aria-busy={blocking.busy}>
        <h2 id="block">{t("recall.block")}</h2>
        {blocking.busy && <Loading />}
        <Problem error={blocking.error} />
        {context ? <Block answer={context} /> : !blocking.busy && !blocking.error && <p class="empty">{t("recall.block.none")}</p>}
      </section>
    </>
  );
}
