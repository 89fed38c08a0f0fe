// One memory: what it says, where it comes from, what became of it, and what may be done about it.

import { useState } from "preact/hooks";
import { api, seg } from "../api";
import { useAction, useLoad } from "../hooks";
import { count, t, term } from "../i18n";
import { Badge, Bar, Fact, Found, Input, Problem, Tags, When } from "../parts/basics";
import { Dialog } from "../parts/dialog";
import { Named } from "../parts/named";
import { Text } from "../parts/text";
import { href, type Route } from "../router";
import type { Memory } from "../types";
import { EditMemory } from "./memory_edit";
import { History, Ledger, Provenance } from "./memory_past";
import { Fate } from "./timeline";

export function MemoryView(props: { route: Route }) {
  const id = props.route.id ?? "";
  const found = useLoad((signal) => api.get<Memory>(`v1/memories/${seg(id)}`, {}, signal), [id]);
  const whose = found.data;
  return (
    <>
      <p>
        <a href={href("timeline")}>← {t("view.timeline")}</a>
      </p>
      <Found of={found}>
        {(memory) => (
          <>
            <article class="card" aria-label={t("view.memory")}>
              <Head memory={memory} />
              <Actions memory={memory} onChange={found.set} reload={found.reload} />
            </article>
            <Facts memory={memory} />
          </>
        )}
      </Found>
      {whose && (
        <>
          <Provenance memory={whose} />
          <History id={whose.id} version={whose.version} />
          <Ledger memory={whose} />
        </>
      )}
    </>
  );
}

function Head(props: { memory: Memory }) {
  const { memory } = props;
  return (
    <>
      <p class="meta">
        <Badge group="status" name={memory.status} /> <Badge group="kind" name={memory.kind} />{" "}
        <Badge group="type" name={memory.memory_type} /> <code class="id">{memory.id}</code>{" "}
        <span>{t("version", { n: memory.version })}</span>
        {memory.pending && <span class="badge">{t("pending")}</span>}
        {memory.enrichment === "failed" && <span class="badge severity-error">{t("enrichment.failed")}</span>}
        {memory.text_archived && <span class="badge">{t("text.archived")}</span>}
      </p>
      <h2>{t("field.content")}</h2>
      <Text value={memory.content} most={2000} class="content" />
      {memory.summary !== memory.content && (
        <>
          <h3>{t("field.summary")}</h3>
          <Text value={memory.summary} />
        </>
      )}
      <Tags tags={memory.tags} />
      <Fate memory={memory} />
    </>
  );
}

function Facts(props: { memory: Memory }) {
  const { memory } = props;
  const { source } = memory;
  const moments: [Parameters<typeof t>[0], string | null | undefined][] = [
    ["field.created_at", memory.created_at],
    ["field.updated_at", memory.updated_at],
    ["field.valid_from", memory.valid_from],
    ["field.valid_to", memory.valid_to],
    ["field.expires_at", memory.expires_at],
    ["field.last_confirmed_at", memory.last_confirmed_at],
    ["field.last_recalled_at", memory.last_recalled_at],
    ["field.last_used_at", memory.last_used_at],
  ];
  return (
    <section class="card" aria-labelledby="facts">
      <h2 id="facts">{t("memory.facts")}</h2>
      <Bar label={t("field.importance")} value={memory.importance} />
      <Bar label={t("field.confidence")} value={memory.confidence} />
      <dl class="facts">
        <Fact name={t("field.user_id")}>
          <bdi>{memory.user_id}</bdi>
        </Fact>
        <Fact name={t("field.namespace")}>{memory.namespace}</Fact>
        <Fact name={t("field.origin")}>{term("origin", memory.origin)}</Fact>
        <Fact name={t("field.audience")}>{term("audience", memory.audience)}</Fact>
        <Fact name={t("field.created_by")}>
          <bdi>{memory.created_by}</bdi>
        </Fact>
        <Fact name={t("field.updated_by")}>
          <bdi>{memory.updated_by}</bdi>
        </Fact>
        <Fact name={t("field.confirmations")}>{count(memory.confirmations)}</Fact>
        {moments
          .filter(([, at]) => at)
          .map(([word, at]) => (
            <Fact key={word} name={t(word)}>
              <When at={at} />
            </Fact>
          ))}
        {Object.entries({ ...source, agent_id: memory.agent_id })
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <Fact key={name} name={term("field", name)}>
              {name === "decision_id" ? <a href={href("decisions", value)}>{value}</a> : <bdi>{value}</bdi>}
            </Fact>
          ))}
        {memory.entities.length > 0 && (
          <Fact name={t("field.entities")}>
            <bdi>{memory.entities.join(" · ")}</bdi>
          </Fact>
        )}
        {(memory.evidence?.length ?? 0) > 0 && (
          <Fact name={t("field.evidence")}>
            <ul>
              {memory.evidence?.map((id) => (
                <li key={id}>
                  <Named id={id} />
                </li>
              ))}
            </ul>
          </Fact>
        )}
        {Object.keys(memory.metadata).length > 0 && (
          <Fact name={t("field.metadata")}>
            <pre dir="auto">{JSON.stringify(memory.metadata, null, 2)}</pre>
          </Fact>
        )}
      </dl>
    </section>
  );
}

function Actions(props: { memory: Memory; onChange: (memory: Memory) => void; reload: () => void }) {
  const { memory } = props;
  const [asking, setAsking] = useState<"edit" | "forget" | null>(null);
  const action = useAction();
  const gone = memory.status === "deleted";
  const path = `v1/memories/${seg(memory.id)}`;
  const confirm = () =>
    action.run(
      async () => props.onChange(await api.patch<Memory>(path, { confirmed: true, version: memory.version })),
      t("done.confirmed"),
    );
  const restore = () =>
    action.run(async () => props.onChange(await api.post<Memory>(`${path}/restore`)), t("done.restored"));
  return (
    <>
      <div class="buttons">
        {!gone && (
          <>
            {/* What was merged is changed where it went to. */}
            {memory.status !== "merged" && (
              <>
                <button type="button" class="primary" onClick={() => setAsking("edit")}>
                  {t("edit")}
                </button>
                <button type="button" disabled={action.busy} onClick={() => void confirm()}>
                  {t("confirm")}
                </button>
              </>
            )}
            <button type="button" class="danger" onClick={() => setAsking("forget")}>
              {t("forget")}
            </button>
          </>
        )}
        {gone && (
          <button type="button" class="primary" disabled={action.busy} onClick={() => void restore()}>
            {t("restore")}
          </button>
        )}
      </div>
      {asking === null && <Problem error={action.error} retry={props.reload} />}
      {asking === "edit" && (
        <EditMemory
          memory={memory}
          onClose={() => setAsking(null)}
          onDone={(changed) => {
            setAsking(null);
            props.onChange(changed);
          }}
        />
      )}
      {asking === "forget" && (
        <ForgetMemory
          memory={memory}
          onClose={() => setAsking(null)}
          onDone={(changed) => {
            setAsking(null);
            props.onChange(changed);
          }}
        />
      )}
    </>
  );
}

export function ForgetMemory(props: { memory: { id: string }; onClose: () => void; onDone: (memory: Memory) => void }) {
  const [reason, setReason] = useState("");
  const action = useAction();
  return (
    <Dialog
      title={t("forget.title")}
      ok={t("forget")}
      danger
      action={action}
      onClose={props.onClose}
      onOk={() =>
        void action.run(async () => {
          const query = reason.trim() ? { reason: reason.trim() } : {};
          props.onDone(await api.delete<Memory>(`v1/memories/${seg(props.memory.id)}`, query));
        }, t("done.forgotten"))
      }
    >
      <p>{t("forget.about")}</p>
      <Input label={t("field.reason")} value={reason} onInput={setReason} />
    </Dialog>
  );
}
