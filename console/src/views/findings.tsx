// What a report found, and what can be done about each finding from here.

import { useState } from "preact/hooks";
import { api, seg } from "../api";
import { useAction, useLoad } from "../hooks";
import { count, share, t, term } from "../i18n";
import { Badge, Bar, Found, MemoryLink, Problem, When } from "../parts/basics";
import { Named } from "../parts/named";
import { Text } from "../parts/text";
import { href } from "../router";
import { say } from "../sayings";
import type { Audit, Finding, Memory } from "../types";
import { ForgetMemory } from "./memory";
import { EditMemory } from "./memory_edit";

const PAGE = 25;

export function Findings(props: { audit: Audit; onChange: (audit: Audit) => void }) {
  const { audit } = props;
  const [most, setMost] = useState(PAGE);
  return (
    <>
      <ol class="cards">
        {audit.findings.slice(0, most).map((finding, index) => (
          <li key={`${finding.check} ${finding.refs.join(" ")} ${index}`} class="card">
            <p class="meta">
              <Badge group="severity" name={finding.severity} /> <strong>{term("check", finding.check)}</strong>{" "}
              <Badge group="proposal" name={finding.state ?? null} />{" "}
              {finding.value !== null && finding.value !== undefined && (
                <span>{t("finding.value", { n: share(finding.value) })}</span>
              )}
              {finding.at && <When at={finding.at} />}
            </p>
            {/* Of a sample it is the summary, which stands below with what can be done. */}
            {finding.check !== "review" && <Text value={say(finding.detail)} most={400} />}
            {finding.opinion && <p class="fate">{t(finding.opinion === "keep" ? "opinion.keep" : "opinion.forget")}</p>}
            {(finding.by || finding.note) && (
              <p class="fate">
                {t("by")} <bdi>{finding.by ?? "?"}</bdi> <bdi>{say(finding.note ?? "")}</bdi>
              </p>
            )}
            <Body audit={audit} finding={finding} onChange={props.onChange} />
          </li>
        ))}
      </ol>
      {audit.findings.length > most && (
        <button type="button" onClick={() => setMost(most + 4 * PAGE)}>
          {t("more")} ({count(audit.findings.length - most)})
        </button>
      )}
    </>
  );
}

function Body(props: { audit: Audit; finding: Finding; onChange: (audit: Audit) => void }) {
  const { finding } = props;
  if (finding.check === "forgetting") return <Proposal {...props} />;
  if (finding.check === "review" && finding.refs[0]) return <Sample id={finding.refs[0]} />;
  return (
    <>
      <Refs finding={finding} />
      <Mend audit={props.audit} finding={finding} />
    </>
  );
}

function Refs(props: { finding: Finding }) {
  const { finding } = props;
  if (!finding.refs.length) return null;
  const conflict = finding.check === "open_conflicts" ? finding.refs[0] : null;
  return (
    <ul class="rows">
      {finding.refs.slice(0, 20).map((id) => (
        <li key={id}>
          {id === conflict ? (
            <a href={href("conflicts", id)}>{t("conflict.see")}</a>
          ) : /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id) ? (
            <Named id={id} />
          ) : (
            <code class="id">{id}</code>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Calls that need no more than what the finding says; all others are shown to be made elsewhere. */
const PLAIN = /^POST \/(v1\/(?:redrive|memories\/[0-9A-Z]{26}\/restore))$/;

function Mend(props: { audit: Audit; finding: Finding }) {
  const { audit, finding } = props;
  const action = useAction();
  const [done, setDone] = useState(false);
  if (!finding.mend) return null;
  const conflict = /^POST \/v1\/conflicts\/(\w+)\/resolve/.exec(finding.mend);
  const plain = PLAIN.exec(finding.mend)?.[1];
  const body = () => {
    if (!plain?.endsWith("redrive")) return {};
    return audit.user_id ? { user_id: audit.user_id, namespace: audit.namespace } : { namespace: audit.namespace };
  };
  return (
    <>
      <p>
        {t("finding.mend")} <code>{finding.mend}</code>
      </p>
      {conflict && (
        <a class="button primary" href={href("conflicts", conflict[1])}>
          {t("conflict.settle")}
        </a>
      )}
      {plain && !done && (
        <button
          type="button"
          class="primary"
          disabled={action.busy}
          onClick={() =>
            void action.run(async () => {
              await api.post(plain, body());
              setDone(true);
            }, t("done.mended"))
          }
        >
          {t("finding.do")}
        </button>
      )}
      {done && <p class="badge status-active">{t("done.mended")}</p>}
      <Problem error={action.error} />
    </>
  );
}

function Meant(props: { id: string }) {
  const found = useLoad((signal) => api.get<Memory>(`v1/memories/${seg(props.id)}`, {}, signal), [props.id]);
  return (
    <Found of={found}>
      {(memory) => (
        <>
          <p class="meta">
            <MemoryLink id={memory.id} /> <Badge group="status" name={memory.status} />{" "}
            <Badge group="kind" name={memory.kind} /> <When at={memory.created_at} date />
          </p>
          <Text value={memory.content} most={400} />
        </>
      )}
    </Found>
  );
}

/** A memory that the upkeep would let go: approved, opposed or taken back one by one. */
function Proposal(props: { audit: Audit; finding: Finding; onChange: (audit: Audit) => void }) {
  const { audit, finding } = props;
  const action = useAction();
  const act = (verb: string) => () =>
    void action.run(async () => {
      props.onChange(await api.post<Audit>(`v1/audits/${seg(audit.id)}/${verb}`, { memory_ids: finding.refs }));
    }, t("done.changed"));
  const verbs: [string, string, boolean][] =
    finding.state === "proposed"
      ? [
          ["approve", t("propose.approve"), true],
          ["oppose", t("propose.oppose"), false],
        ]
      : finding.state === "done"
        ? [["undo", t("undo"), false]]
        : finding.state === "opposed" || finding.state === "undone"
          ? [["approve", t("propose.approve"), true]]
          : [];
  return (
    <>
      {finding.refs[0] && <Meant id={finding.refs[0]} key={finding.state ?? ""} />}
      {finding.parts && (
        <div class="parts">
          {Object.entries(finding.parts).map(([name, value]) => (
            <Bar key={name} label={term("worth", name)} value={value} />
          ))}
        </div>
      )}
      {finding.covered_by && (
        <p class="fate">
          {t("finding.covered")} <Named id={finding.covered_by} />
        </p>
      )}
      <div class="buttons">
        {verbs.map(([verb, text, danger]) => (
          <button key={verb} type="button" class={danger ? "danger" : ""} disabled={action.busy} onClick={act(verb)}>
            {text}
          </button>
        ))}
      </div>
      <Problem error={action.error} />
    </>
  );
}

/** A memory of the weekly sample: is it still right? */
function Sample(props: { id: string }) {
  const path = `v1/memories/${seg(props.id)}`;
  const found = useLoad((signal) => api.get<Memory>(path, {}, signal), [props.id]);
  const [asking, setAsking] = useState<"correct" | "forget" | null>(null);
  const action = useAction();
  const close = () => setAsking(null);
  const done = (memory: Memory) => {
    close();
    found.set(memory);
  };
  return (
    <Found of={found}>
      {(memory) => (
        <>
          <p class="meta">
            <MemoryLink id={memory.id} /> <Badge group="status" name={memory.status} />{" "}
            {t("importance.is", { n: share(memory.importance) })}
            {memory.confirmations > 0 && <span>{t("review.confirmed", { n: count(memory.confirmations) })}</span>}
          </p>
          <Text value={memory.content} most={400} />
          {memory.status !== "deleted" && (
            <div class="buttons">
              <button
                type="button"
                class="primary"
                disabled={action.busy}
                onClick={() =>
                  void action.run(
                    async () => found.set(await api.patch<Memory>(path, { confirmed: true })),
                    t("done.confirmed"),
                  )
                }
              >
                {t("confirm")}
              </button>
              <button type="button" onClick={() => setAsking("correct")}>
                {t("correct")}
              </button>
              <button type="button" class="danger" onClick={() => setAsking("forget")}>
                {t("forget")}
              </button>
            </div>
          )}
          {asking === null && <Problem error={action.error} />}
          {asking === "correct" && <EditMemory memory={memory} onClose={close} onDone={done} />}
          {asking === "forget" && <ForgetMemory memory={memory} onClose={close} onDone={done} />}
        </>
      )}
    </Found>
  );
}
