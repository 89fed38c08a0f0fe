// Texts of users: never markup, isolated in direction, broken anywhere, and cut when they are long.

import { useState } from "preact/hooks";
import { count, t } from "../i18n";

const MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** The first ``most`` code units, without half a character at the end. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return text.slice(0, end);
}

export function Text(props: { value: string; most?: number; class?: string }) {
  const [whole, setWhole] = useState(false);
  const most = props.most ?? 600;
  const long = props.value.length > most;
  const shown = whole ? props.value : cut(props.value, most);
  return (
    <div class={`text ${props.class ?? ""}`}>
      <p dir="auto" class="said">
        {shown}
        {long && !whole ? "…" : ""}
      </p>
      {MARKS.test(props.value) && <p class="hint">{t("text.marks")}</p>}
      {long && (
        <button type="button" class="link" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? t("text.less") : t("text.all", { n: count(props.value.length) })}
        </button>
      )}
    </div>
  );
}

/** A short text in a line of others. */
export function Inline(props: { value: string; most?: number }) {
  const most = props.most ?? 160;
  const shown = cut(props.value, most);
  return <bdi class="said">{shown.length < props.value.length ? `${shown}…` : shown}</bdi>;
}
