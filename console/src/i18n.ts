// Two full dictionaries; the compiler holds one to the keys of the other.

import { tastes } from "./session";
import { en } from "./words/en";
import { zh } from "./words/zh";

export type Word = keyof typeof en;
export type Language = "en" | "zh";

const WORDS: Record<Language, Record<Word, string>> = { en, zh };

function first(): Language {
  const kept = tastes.get("language");
  if (kept === "en" || kept === "zh") return kept;
  return /^zh\b/i.test(navigator.language) ? "zh" : "en";
}

export const tongue = { now: first() };

export function speak(language: Language): void {
  tongue.now = language;
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}

/** The words for ``key``; {name} stands for a value. */
export function t(key: Word, values: Record<string, string | number> = {}): string {
  return WORDS[tongue.now][key].replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}

/** The words for a term of the API (a status, a kind …); the term itself where there are none. */
export function term(group: string, name: string): string {
  const key = `${group}.${name}`;
  return key in en ? t(key as Word) : name;
}

function locale(): string {
  return tongue.now === "zh" ? "zh-CN" : "en-GB";
}

export function when(moment: string | null | undefined, withTime = true): string {
  if (!moment) return "—";
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return moment;
  return new Intl.DateTimeFormat(locale(), {
    dateStyle: "medium",
    ...(withTime ? { timeStyle: "short" as const } : {}),
  }).format(date);
}

export function count(value: number): string {
  return new Intl.NumberFormat(locale()).format(value);
}

export function share(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined ? "—" : value.toFixed(digits);
}

export function percent(value: number | null | undefined): string {
  return value === null || value === undefined ? "—" : `${Math.round(value * 100)} %`;
}

/** The zone that dates without one are read in; nothing to say while no date is given. */
export function zone(...dates: string[]): { timezone?: string } {
  return dates.some(Boolean) ? { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone } : {};
}
