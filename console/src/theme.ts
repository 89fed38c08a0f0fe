// Dark or light: as the system has it, until somebody chooses.

import { tastes } from "./session";

export type Theme = "auto" | "light" | "dark";

export function theme(): Theme {
  const kept = tastes.get("theme");
  return kept === "light" || kept === "dark" ? kept : "auto";
}

export function applyTheme(chosen: Theme = theme()): void {
  tastes.set("theme", chosen === "auto" ? null : chosen);
  document.documentElement.dataset.theme = chosen;
}

export function isDark(): boolean {
  const chosen = theme();
  return chosen === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}
