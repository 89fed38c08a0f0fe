// Paints a laid-out graph on a canvas, in the colours that the style sheet gives.

import type { Node } from "./types";
import type { Layout, Point } from "./layout";

export interface View {
  /** Screen = graph × k + (x, y). */
  k: number;
  x: number;
  y: number;
}

export type Colours = (name: string) => string;

/** Reads the custom properties of the style sheet, each once. */
export function colours(of: Element): Colours {
  const style = getComputedStyle(of);
  const kept = new Map<string, string>();
  return (name) => {
    let found = kept.get(name);
    if (found === undefined) {
      found = style.getPropertyValue(`--${name}`).trim() || "#888";
      kept.set(name, found);
    }
    return found;
  };
}

/** Edge kinds from the faintest to the loudest, as they are painted. */
export const EDGES = [
  "near_in_time",
  "same_tag",
  "same_source",
  "evidence",
  "merged_into",
  "parent",
  "rests_on",
  "supersedes",
  "conflicts",
] as const;
const FAINT = new Set<string>(["near_in_time", "same_tag", "same_source"]);

export function tone(node: Node): string {
  return node.type === "decision" ? "g-decision" : `g-${node.kind}`;
}

export function paint(
  canvas: HTMLCanvasElement,
  layout: Layout,
  view: View,
  shown: ReadonlySet<string>,
  marked: Point | null,
  words: { islands: string },
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const colour = colours(canvas);
  const scale = devicePixelRatio || 1;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(view.k * scale, 0, 0, view.k * scale, view.x * scale, view.y * scale);
  const hair = 1 / view.k;

  for (const group of layout.groups) {
    context.beginPath();
    context.arc(group.x, group.y, group.r, 0, 2 * Math.PI);
    context.fillStyle = colour("g-group");
    context.fill();
    context.lineWidth = hair;
    context.strokeStyle = colour("line");
    context.setLineDash(group.id === null ? [4 * hair, 4 * hair] : []);
    context.stroke();
  }

  for (const kind of EDGES) {
    if (!shown.has(kind)) continue;
    context.beginPath();
    for (const line of layout.lines) {
      if (line.edge.kind !== kind) continue;
      context.moveTo(line.source.x, line.source.y);
      context.lineTo(line.target.x, line.target.y);
    }
    context.globalAlpha = FAINT.has(kind) ? 0.35 : 0.9;
    context.lineWidth = (FAINT.has(kind) ? 0.6 : 1.6) * hair;
    context.setLineDash(kind === "parent" ? [5 * hair, 3 * hair] : []);
    context.strokeStyle = colour(`e-${kind}`);
    context.stroke();
  }
  context.globalAlpha = 1;
  context.setLineDash([]);

  const least = 1.6 * hair;
  const tones = new Map<string, Point[]>();
  for (const point of layout.points) {
    const list = tones.get(tone(point.node));
    if (list) list.push(point);
    else tones.set(tone(point.node), [point]);
  }
  for (const [name, points] of tones) {
    context.fillStyle = context.strokeStyle = colour(name);
    context.lineWidth = Math.max(1.2, 1.2 * hair);
    context.beginPath();
    for (const point of points) if (!point.node.island) shape(context, point, Math.max(point.r, least));
    context.fill();
    // Islands are hollow.
    context.beginPath();
    for (const point of points) if (point.node.island) shape(context, point, Math.max(point.r, least));
    context.stroke();
  }

  context.lineWidth = Math.max(1.6, 2 * hair);
  context.strokeStyle = colour("g-overdue");
  context.beginPath();
  for (const point of layout.points) {
    if (!point.node.overdue) continue;
    const far = Math.max(point.r, least) + 3 * Math.max(1, hair);
    context.moveTo(point.x + far, point.y);
    context.arc(point.x, point.y, far, 0, 2 * Math.PI);
  }
  context.stroke();

  if (marked) {
    context.lineWidth = 2.5 * hair;
    context.strokeStyle = colour("ink");
    context.beginPath();
    context.arc(marked.x, marked.y, marked.r + 5 * Math.max(1, hair), 0, 2 * Math.PI);
    context.stroke();
  }

  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  for (const group of layout.groups) {
    const size = group.r * view.k;
    if (size < 34) continue;
    const name = group.id === null ? words.islands : group.tags.slice(0, 3).join(" · ");
    const label = `${name}${name ? " " : ""}(${group.size})`;
    const x = group.x * view.k + view.x;
    const y = Math.max(14, (group.y - group.r) * view.k + view.y - 5);
    const width = context.measureText(label).width;
    if (width > size * 2.6) continue;
    context.fillStyle = colour("ground");
    context.globalAlpha = 0.8;
    context.fillRect(x - width / 2 - 4, y - 12, width + 8, 16);
    context.globalAlpha = 1;
    context.fillStyle = colour("ink");
    context.fillText(label, x, y);
  }
}

/** Memories are round, decisions are diamonds. */
function shape(context: CanvasRenderingContext2D, point: Point, r: number): void {
  if (point.node.type === "decision") {
    const far = r * 1.3;
    context.moveTo(point.x, point.y - far);
    context.lineTo(point.x + far, point.y);
    context.lineTo(point.x, point.y + far);
    context.lineTo(point.x - far, point.y);
    context.closePath();
  } else {
    context.moveTo(point.x + r, point.y);
    context.arc(point.x, point.y, r, 0, 2 * Math.PI);
  }
}

/** The view in which all of it is seen. */
export function fit(layout: Layout, width: number, height: number): View {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, r } of layout.groups) {
    left = Math.min(left, x - r);
    right = Math.max(right, x + r);
    top = Math.min(top, y - r);
    bottom = Math.max(bottom, y + r);
  }
  if (left > right) return { k: 1, x: width / 2, y: height / 2 };
  const k = Math.min(2.5, 0.94 * Math.min(width / (right - left), height / (bottom - top)));
  return { k, x: width / 2 - (k * (left + right)) / 2, y: height / 2 - (k * (top + bottom)) / 2 };
}
