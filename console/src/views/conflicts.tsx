// Memories that cannot both hold: what they say, which is right, and the way back.

import { useEffect, useState } from "preact/hooks";
import { api, seg } from "../api";
import { useAction, useLoad } from "../hooks";
import { t, term } from "../i18n";
import { Badge, choices, Found, Input, MemoryLink, Problem, Select, When } from "../parts/basics";
import { More, usePages } from "../parts/more";
import { Text } from "../parts/text";
import { go, type Route } from "../router";
import { slotName } from "../sayings";
import { session } from "../session";
import type { Conflict, Memory } from "../types";

const STATES = ["open", "resolved", "all"];

export function ConflictsView(props: { route: Route }) {
  // A link to one conflict may lead to one that was settled since.
  const state = props.route.params.get("state") ?? (props.route.id ? "all" : "open");
  const growing = usePages<Conflict>("v1/conflicts", { ...session.scope(), state, limit: 50 });
  const wanted = props.route.id;
  const { data } = growing.list;
  // There is no conflict by id: the list is read on until it comes.
  const missing = wanted !== null && data !== null && !data.items.some((item) => item.id === wanted);
  useEffect(() => {
    if (missing && !growing.ended && !growing.busy && !growing.error) void growing.more();
  }, [missing, data]);
  return (
    <>
      <div class="filters">
        <Select label={t("field.state")} value={state} options={choices("state", STATES, null)} onChange={(to) => go("conflicts", null, { state: to })} />
      </div>
      <Found of={growing.list} empty={(page) => !page.items.length && !page.next_cursor} nothing={t("conflicts.empty")}>
        {(page) => (
          <>
            <ol class="cards">
              {[...page.items]
                .sort((a, b) => Number(b.id === wanted) - Number(a.id === wanted))
                .map((conflict) => (
                  <Item
                    key={conflict.id}
                    conflict={conflict}
                    wanted={conflict.id === wanted}
                    onChange={(changed) =>
                      growing.list.set({
                        ...page,
                        items: page.items.map((item) => (item.id === changed.id ? changed : item)),
                      })
                    }
                  />
                ))}
            </ol>
            <More of={growing} />
          </>
        )}
      </Found>
    </>
  );
}

function Item(props: { conflict: Conflict; wanted: boolean; onChange: (conflict: Conflict) => void }) {
  const { conflict } = props;
  const [note, setNote] = useState("");
  const action = useAction();
  const path = `v1/conflicts/${seg(conflict.id)}`;
  const resolve = (how: Record<string, unknown>) =>
    action.run(async () => {
      const body = note.trim() ? { ...how, note: note.trim() } : how;
      props.onChange(await api.post<Conflict>(`${path}/resolve`, body));
    }, t("done.resolved"));
  const undo = () => action.run(async () => props.onChange(await api.post<Conflict>(`${path}/undo`)), t("done.undone"));
  const isOpen = conflict.state === "open";
  return (
    <li class={`card ${props.wanted ? "wanted" : ""}`}>
      <h2 class="card-head">
        <bdi>{`${term("subject", conflict.subject)} · ${slotName(conflict.slot)}`}</bdi>
      </h2>
      <p class="meta">
        <Badge group="state" name={conflict.state} /> <Badge group="conflict" name={conflict.type} /> <When at={conflict.created_at} />
      </p>
      <Text value={conflict.question} most={600} />
      <ul class="sides">
        {conflict.memory_ids.map((id, index) => (
          <Side
            key={`${id} ${conflict.updated_at}`}
            id={id}
            letter={String.fromCharCode(65 + (index % 26))}
            kept={conflict.keep === id}
            {...(isOpen ? { onKeep: () => void resolve({ keep: id }) } : {})}
            busy={action.busy}
          />
        ))}
      </ul>
      {isOpen ? (
        <>
          <Input label={t("field.note")} value={note} onInput={setNote} />
          <button type="button" disabled={action.busy} onClick={() => void resolve({ keep_both: true })}>
            {t("conflict.both")}
          </button>
        </>
      ) : (
        <>
          <p class="fate">
            {t("conflict.resolved", { how: term("resolution", conflict.resolution ?? ""), by: conflict.resolved_by ?? "?" })}{" "}
            {conflict.automatic && <span class="badge">{t("conflict.automatic")}</span>} <When at={conflict.updated_at} />
            {conflict.note && (
              <>
                {" — "}
                <bdi>{conflict.note}</bdi>
              </>
            )}
          </p>
          <button type="button" disabled={action.busy} onClick={() => void undo()}>
            {t("undo")}
          </button>
        </>
      )}
      <Problem error={action.error} />
    </li>
  );
}

function Side(props: { id: string; letter: string; kept: boolean; onKeep?: () => void; busy: boolean }) {
  const found = useLoad((signal) => api.get<Memory>(`v1/memories/${seg(props.id)}`, {}, signal), [props.id]);
  return (
    <li class={props.kept ? "kept" : ""}>
      <p class="meta">
        <strong>{props.letter}</strong> <MemoryLink id={props.id} />{" "}
        {props.kept && <span class="badge status-active">{t("conflict.kept")}</span>}
      </p>
      <Found of={found}>
        {(memory) => (
          <>
            <p class="meta">
              <Badge group="status" name={memory.status} /> {t("from", { origin: term("origin", memory.origin) })}{" "}
              <When at={memory.valid_from} />
            </p>
            <Text value={memory.content} most={400} />
          </>
        )}
      </Found>
      {props.onKeep && (
        <button type="button" class="primary" disabled={props.busy} onClick={props.onKeep}>
          {t("conflict.keep", { letter: props.letter })}
        </button>
      )}
    </li>
  );
}
