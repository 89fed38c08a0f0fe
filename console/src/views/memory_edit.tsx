// Changing a memory: only what was changed is sent, and only if nobody changed it meanwhile.

import { useState } from "preact/hooks";
import { api, seg } from "../api";
import { useAction } from "../hooks";
import { t } from "../i18n";
import { Area, choices, Input, Select } from "../parts/basics";
import { Dialog } from "../parts/dialog";
import type { Memory } from "../types";
import { KINDS } from "../vocabulary";

/** A moment as a datetime-local field wants it, in the zone of the one who looks. */
export function toLocal(moment: string | null): string {
  if (!moment) return "";
  const at = new Date(moment);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The moment that such a field names; null when it is empty. */
export function fromLocal(text: string): string | null {
  return text ? new Date(text).toISOString() : null;
}

export function EditMemory(props: { memory: Memory; onClose: () => void; onDone: (memory: Memory) => void }) {
  const { memory } = props;
  const start = {
    content: memory.content,
    kind: memory.kind,
    tags: memory.tags.join(", "),
    importance: String(memory.importance),
    confidence: String(memory.confidence),
    valid_from: toLocal(memory.valid_from),
    valid_to: toLocal(memory.valid_to),
  };
  const [form, setForm] = useState(start);
  const [reason, setReason] = useState("");
  const action = useAction();
  const put = (name: keyof typeof start) => (value: string) => setForm((before) => ({ ...before, [name]: value }));
  const changes = () => {
    const body: Record<string, unknown> = {};
    if (form.content !== start.content) body.content = form.content;
    if (form.kind !== start.kind) body.kind = form.kind;
    if (form.tags !== start.tags) body.tags = form.tags.split(/[,，、]/).map((tag) => tag.trim()).filter(Boolean);
    if (form.importance !== start.importance) body.importance = Number(form.importance);
    if (form.confidence !== start.confidence) body.confidence = Number(form.confidence);
    if (form.valid_from !== start.valid_from && form.valid_from) body.valid_from = fromLocal(form.valid_from);
    if (form.valid_to !== start.valid_to) body.valid_to = fromLocal(form.valid_to);
    return body;
  };
  const save = () =>
    action.run(async () => {
      const body: Record<string, unknown> = { ...changes(), version: memory.version };
      if (reason.trim()) body.reason = reason.trim();
      props.onDone(await api.patch<Memory>(`v1/memories/${seg(memory.id)}`, body));
    }, t("done.changed"));
  return (
    <Dialog title={t("edit.title")} ok={t("save")} action={action} onClose={props.onClose} onOk={() => void save()}>
      <Area label={t("field.content")} value={form.content} onInput={put("content")} rows={5} required />
      <div class="two">
        <Select label={t("field.kind")} value={form.kind} options={choices("kind", KINDS, null)} onChange={put("kind")} />
        <Input label={t("field.tags")} value={form.tags} onInput={put("tags")} hint={t("edit.tags")} />
        <Input label={t("field.importance")} type="number" min={0} max={1} step="any" value={form.importance} onInput={put("importance")} required />
        <Input label={t("field.confidence")} type="number" min={0} max={1} step="any" value={form.confidence} onInput={put("confidence")} required />
        <Input label={t("field.valid_from")} type="datetime-local" value={form.valid_from} onInput={put("valid_from")} />
        <Input label={t("field.valid_to")} type="datetime-local" value={form.valid_to} onInput={put("valid_to")} />
      </div>
      <Input label={t("field.reason")} value={reason} onInput={setReason} />
    </Dialog>
  );
}
