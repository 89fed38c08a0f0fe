// Memories that are only known by their ids, shown by what they say.

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { api, seg } from "../api";
import type { Memory } from "../types";
import { MemoryLink } from "./basics";

/** Requests at a time: a list of names must not keep others waiting. */
const AT_ONCE = 4;
let running = 0;
const waiting: (() => void)[] = [];

async function turn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

/** A link to a memory by its summary; by its id until that has come, and where it cannot be had. */
export function Named(props: { id: string }) {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    setText(null);
    turn(async () => {
      if (stop.signal.aborted) return;
      const memory = await api.get<Memory>(`v1/memories/${seg(props.id)}`, {}, stop.signal);
      if (!stop.signal.aborted) setText(memory.summary || null);
    }).catch(() => {
      // Purged, or not for this key: its own page tells which.
    });
    return () => stop.abort();
  }, [props.id]);
  return <MemoryLink id={props.id} text={text} />;
}

/** A part that is filled when it is opened, not before. */
export function Folded(props: { summary: string; class?: string; open?: boolean; children: () => ComponentChildren }) {
  const [open, setOpen] = useState(props.open ?? false);
  return (
    <details class={props.class} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.summary}</summary>
      {open && props.children()}
    </details>
  );
}
