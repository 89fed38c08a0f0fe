// One polite live region for the whole page.

type Listener = (text: string) => void;

let listener: Listener | null = null;
let flip = false;

export function listen(to: Listener): void {
  listener = to;
}

/** Has a screen reader say it; the same words twice are said twice. */
export function announce(text: string): void {
  flip = !flip;
  listener?.(flip ? text : `${text}\u00a0`);
}
