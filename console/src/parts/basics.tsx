// The small parts that all views are made of.

import type { ComponentChildren, JSX } from "preact";
import type { Refusal } from "../api";
import type { Loaded } from "../hooks";
import { useName } from "../hooks";
import { share, t, term, tongue, when, type Word } from "../i18n";
import { href } from "../router";
import { say } from "../sayings";

/** The server's own title, in Chinese by its status. */
function titled(error: Refusal): string {
  const word = term("problem", String(error.status));
  return tongue.now === "en" || word === String(error.status) ? error.title : word;
}

export function Problem(props: { error: Refusal | null; retry?: () => void }) {
  const { error } = props;
  if (!error) return null;
  const offline = error.status === 0 && error.title === "offline";
  const head = error.missing
    ? t("problem.missing")
    : offline
      ? t("problem.offline")
      : error.status === 0
        ? t("problem.fault")
        : `${error.status} ${titled(error)}`;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{head}</strong>
      </p>
      {error.detail && !error.missing && <p dir="auto">{say(error.detail)}</p>}
      {error.errors.length > 0 && (
        <ul>
          {error.errors.map((item) => (
            <li key={`${item.field} ${item.rule}`}>
              <code>{item.field}</code> <span class="badge">{item.rule}</span> <bdi>{item.message}</bdi>
            </li>
          ))}
        </ul>
      )}
      {error.requestId && (
        <p class="hint">
          {t("problem.request")} <code>{error.requestId}</code>
        </p>
      )}
      {props.retry && !error.missing && (
        <button type="button" onClick={props.retry}>
          {t("again")}
        </button>
      )}
    </div>
  );
}

/** Loading, error, empty, or what was found. */
export function Found<T>(props: {
  of: Loaded<T> & { reload: () => void };
  empty?: (data: T) => boolean;
  nothing?: string;
  children: (data: T) => ComponentChildren;
}) {
  const { of } = props;
  if (of.state === "error") return <Problem error={of.error} retry={of.reload} />;
  if (of.data === null) return <Loading />;
  if (of.state === "ready" && props.empty?.(of.data))
    return <p class="empty">{props.nothing ?? t("empty")}</p>;
  return <div aria-busy={of.state === "loading"}>{props.children(of.data)}</div>;
}

export function Loading(props: { text?: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> {props.text ?? t("loading")}
    </p>
  );
}

export function Badge(props: { group: string; name: string | null | undefined }) {
  if (!props.name) return null;
  return <span class={`badge ${props.group}-${props.name}`}>{term(props.group, props.name)}</span>;
}

export function When(props: { at: string | null | undefined; date?: boolean }) {
  if (!props.at) return <span>—</span>;
  return (
    <time dateTime={props.at} title={props.at}>
      {when(props.at, !props.date)}
    </time>
  );
}

export function MemoryLink(props: { id: string; text?: string | null | undefined }) {
  return (
    <a href={href("memory", props.id)} class={props.text ? "" : "id"}>
      {props.text ? <bdi>{props.text}</bdi> : props.id}
    </a>
  );
}

export function Tags(props: { tags: readonly string[] }) {
  if (!props.tags.length) return null;
  return (
    <ul class="tags" aria-label={t("field.tags")}>
      {props.tags.map((tag) => (
        <li key={tag}>
          <a href={href("timeline", null, { tag })}>
            <bdi>{tag}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A bar for a share of 0-1, with its number beside it. */
export function Bar(props: { value: number; label: string; of?: number; digits?: number; tone?: string }) {
  const width = Math.max(0, Math.min(1, props.of ? props.value / props.of : props.value)) * 100;
  return (
    <span class="bar">
      <span class="bar-label">{props.label}</span>
      <span class="bar-track" aria-hidden="true">
        <span class={`bar-fill ${props.tone ?? ""}`} style={{ width: `${width}%` }} />
      </span>
      <span class="bar-number">{share(props.value, props.digits ?? 2)}</span>
    </span>
  );
}

export function Field(props: { label: string; hint?: string; children: (id: string, hint?: string) => JSX.Element }) {
  const id = useName("field");
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children(id, props.hint ? `${id}-hint` : undefined)}
      {props.hint && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

export function Select(props: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <Field label={props.label}>
      {(id) => (
        <select id={id} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
          {props.options.map(([value, text]) => (
            <option key={value} value={value} selected={value === props.value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Input(props: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  type?: "text" | "password" | "number" | "date" | "datetime-local";
  hint?: string;
  required?: boolean;
  min?: number;
  max?: number;
  step?: number | "any";
  placeholder?: string;
}) {
  return (
    <Field label={props.label} {...(props.hint ? { hint: props.hint } : {})}>
      {(id, hint) => (
        <input
          id={id}
          // The types of the DOM tie roles to kinds of fields one by one; no role is given here.
          {...({ type: props.type ?? "text" } as { type: "text" })}
          value={props.value}
          aria-describedby={hint}
          required={props.required}
          min={props.min}
          max={props.max}
          step={props.step}
          placeholder={props.placeholder}
          autocomplete="off"
          spellcheck={false}
          dir={(props.type ?? "text") === "text" ? "auto" : undefined}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function Area(props: { label: string; value: string; onInput: (value: string) => void; rows?: number; required?: boolean }) {
  return (
    <Field label={props.label}>
      {(id) => (
        <textarea
          id={id}
          dir="auto"
          rows={props.rows ?? 3}
          required={props.required}
          value={props.value}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function Check(props: { label: string; value: boolean; onChange: (value: boolean) => void }) {
  const id = useName("check");
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={props.value}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <label for={id}>{props.label}</label>
    </div>
  );
}

/** Options for a Select: a word for "any", then the terms of a group of the API. */
export function choices(group: string, names: readonly string[], any: Word | null = "any"): [string, string][] {
  const list = names.map((name): [string, string] => [name, term(group, name)]);
  return any === null ? list : [["", t(any)], ...list];
}

/** A fact with its name, in a description list. */
export function Fact(props: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}
