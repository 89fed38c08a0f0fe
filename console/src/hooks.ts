// Loading and acting: every view shows the same states for them.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Refusal } from "./api";
import { announce } from "./live";

export type Loaded<T> =
  | { state: "loading"; data: T | null; error: null }
  | { state: "ready"; data: T; error: null }
  | { state: "error"; data: null; error: Refusal };

export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(0, "fault", error instanceof Error ? error.message : String(error));
}

/** Runs ``load`` when ``deps`` change, and again on ``reload``; what was there stays to be seen meanwhile. */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
): Loaded<T> & { reload: () => void; set: (data: T) => void } {
  const [turn, setTurn] = useState(0);
  const [found, setFound] = useState<Loaded<T>>({ state: "loading", data: null, error: null });
  const last = useRef<string>("");
  const key = JSON.stringify(deps);
  useEffect(() => {
    const stop = new AbortController();
    const same = last.current === key;
    last.current = key;
    setFound((before) => ({ state: "loading", data: same ? before.data : null, error: null }));
    load(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) setFound({ state: "ready", data, error: null });
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setFound({ state: "error", data: null, error: asRefusal(error) });
      },
    );
    return () => stop.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const set = useCallback((data: T) => setFound({ state: "ready", data, error: null }), []);
  return { ...found, reload, set };
}

export interface Acting {
  busy: boolean;
  error: Refusal | null;
  /** Runs one call at a time; true when it went well. ``said`` is announced then. */
  run: (work: () => Promise<unknown>, said?: string) => Promise<boolean>;
  clear: () => void;
}

export function useAction(): Acting {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal | null>(null);
  const running = useRef(false);
  const run = useCallback(async (work: () => Promise<unknown>, said?: string) => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setError(null);
    try {
      await work();
      if (said) announce(said);
      return true;
    } catch (caught) {
      setError(asRefusal(caught));
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  }, []);
  const clear = useCallback(() => setError(null), []);
  return { busy, error, run, clear };
}

let made = 0;

/** An id for a label and its field. */
export function useName(prefix: string): string {
  const [name] = useState(() => `${prefix}-${++made}`);
  return name;
}
