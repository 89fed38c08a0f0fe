// The picture of the graph: pointer, wheel and keys lead through it; a click or Enter opens what is marked.

import { quadtree, type Quadtree } from "d3-quadtree";
import { useEffect, useRef, useState } from "preact/hooks";
import { count, t, term } from "../i18n";
import { announce } from "../live";
import { go } from "../router";
import type { Graph, Node } from "./types";
import { layOut, type Layout, type Point } from "./layout";
import { fit, paint, type View } from "./paint";

/** Milliseconds that the forces may take at a time. */
const SLICE = 40;
const ZOOM = 1.25;

export function open(node: Node): void {
  go(node.type === "memory" ? "memory" : "decisions", node.id);
}

export function nameOf(node: Node): string {
  const text = node.type === "decision" ? `${node.action} — ${node.summary}` : node.summary;
  return text || (node.overdue ? t("graph.overdue") : node.id);
}

class Picture {
  layout: Layout;
  view: View = { k: 1, x: 0, y: 0 };
  marked: Point | null = null;
  private tree: Quadtree<Point> | null = null;
  private asked = 0;
  private steps = 0;
  private touched = false;
  private stopped = false;

  constructor(
    private canvas: HTMLCanvasElement,
    graph: Graph,
    private shown: () => ReadonlySet<string>,
    private onMark: (point: Point | null) => void,
  ) {
    this.layout = layOut(graph);
    this.resize();
    this.draw();
    this.canvas.dataset.nodes = String(this.layout.points.length);
    // After the first picture has been seen.
    requestAnimationFrame(() => {
      if (!this.stopped) this.steps = window.setTimeout(this.settle);
    });
  }

  /** Moves a little at a time, so that the page answers meanwhile; painting is dear, so it waits for the end. */
  private settle = (): void => {
    const until = performance.now() + SLICE;
    let going = true;
    while (going && performance.now() < until) going = this.layout.step();
    if (going) {
      this.steps = window.setTimeout(this.settle);
      return;
    }
    this.tree = null;
    if (!this.touched) this.fit();
    this.draw();
    this.canvas.dataset.settled = "yes";
  };

  stop(): void {
    this.stopped = true;
    clearTimeout(this.steps);
    cancelAnimationFrame(this.asked);
  }

  resize(): void {
    const { width, height } = this.canvas.getBoundingClientRect();
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    if (!this.touched) this.fit();
  }

  fit(): void {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.view = fit(this.layout, width, height);
  }

  draw(): void {
    paint(this.canvas, this.layout, this.view, this.shown(), this.marked, { islands: t("graph.islands") });
  }

  ask(): void {
    cancelAnimationFrame(this.asked);
    this.asked = requestAnimationFrame(() => this.draw());
  }

  /** The node under a place of the screen. */
  at(x: number, y: number): Point | null {
    this.tree ??= quadtree<Point>(
      this.layout.points,
      (point) => point.x,
      (point) => point.y,
    );
    return this.tree.find((x - this.view.x) / this.view.k, (y - this.view.y) / this.view.k, 12 / this.view.k) ?? null;
  }

  mark(point: Point | null, tell = false): void {
    if (point === this.marked) return;
    this.marked = point;
    this.onMark(point);
    if (point && tell) announce(nameOf(point.node));
    this.ask();
  }

  move(dx: number, dy: number): void {
    this.touched = true;
    this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy };
    this.ask();
  }

  zoom(by: number, x?: number, y?: number): void {
    const box = this.canvas.getBoundingClientRect();
    const [cx, cy] = [x ?? box.width / 2, y ?? box.height / 2];
    const k = Math.max(0.02, Math.min(12, this.view.k * by));
    const factor = k / this.view.k;
    this.touched = true;
    this.view = { k, x: cx - (cx - this.view.x) * factor, y: cy - (cy - this.view.y) * factor };
    this.ask();
  }

  whole(): void {
    this.touched = false;
    this.fit();
    this.ask();
  }

  /** Marks the next node in a direction of the screen; the middle one at first. */
  toward(dx: number, dy: number): void {
    const from = this.marked;
    if (!from) {
      const box = this.canvas.getBoundingClientRect();
      const [x, y] = [(box.width / 2 - this.view.x) / this.view.k, (box.height / 2 - this.view.y) / this.view.k];
      this.see(nearest(this.layout.points, (point) => Math.hypot(point.x - x, point.y - y)));
      return;
    }
    const next = nearest(this.layout.points, (point) => {
      const [ox, oy] = [point.x - from.x, point.y - from.y];
      const along = ox * dx + oy * dy;
      const aside = Math.abs(ox * dy - oy * dx);
      return point === from || along <= 0 || aside > along ? Infinity : along + 2 * aside;
    });
    if (next) this.see(next);
  }

  private see(point: Point | null): void {
    if (!point) return;
    this.mark(point, true);
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [point.x * this.view.k + this.view.x, point.y * this.view.k + this.view.y];
    if (x < 20 || y < 20 || x > box.width - 20 || y > box.height - 20) this.move(box.width / 2 - x, box.height / 2 - y);
  }
}

function nearest(points: Point[], distance: (point: Point) => number): Point | null {
  let best: Point | null = null;
  let least = Infinity;
  for (const point of points) {
    const far = distance(point);
    if (far < least) [best, least] = [point, far];
  }
  return best;
}

const KEYS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function GraphCanvas(props: { graph: Graph; shown: ReadonlySet<string> }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture | null>(null);
  const shown = useRef(props.shown);
  const [marked, setMarked] = useState<Point | null>(null);
  shown.current = props.shown;

  useEffect(() => {
    const place = canvas.current;
    if (!place) return;
    const made = new Picture(place, props.graph, () => shown.current, setMarked);
    picture.current = made;
    const resized = new ResizeObserver(() => {
      made.resize();
      made.ask();
    });
    resized.observe(place);
    const repaint = () => made.ask();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", repaint);
    addEventListener("themechange", repaint);
    const wheel = (event: WheelEvent) => {
      // A page that only scrolls past is not held up: the wheel zooms once the picture has the focus, or with Ctrl.
      if (!event.ctrlKey && document.activeElement !== place) return;
      event.preventDefault();
      made.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, event.offsetX, event.offsetY);
    };
    place.addEventListener("wheel", wheel, { passive: false });
    return () => {
      made.stop();
      resized.disconnect();
      scheme.removeEventListener("change", repaint);
      removeEventListener("themechange", repaint);
      place.removeEventListener("wheel", wheel);
    };
  }, [props.graph]);
  useEffect(() => picture.current?.ask(), [props.shown]);

  const drag = useRef<{ x: number; y: number; far: number } | null>(null);
  const key = (event: KeyboardEvent) => {
    const made = picture.current;
    if (!made || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = KEYS[event.key];
    if (way && event.shiftKey) made.move(-60 * way[0], -60 * way[1]);
    else if (way) made.toward(...way);
    else if (event.key === "+" || event.key === "=") made.zoom(ZOOM);
    else if (event.key === "-") made.zoom(1 / ZOOM);
    else if (event.key === "0") made.whole();
    else if (event.key === "Enter" && made.marked) open(made.marked.node);
    else if (event.key === "Escape") made.mark(null);
    else return;
    event.preventDefault();
  };
  return (
    <div class="picture">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={t("graph.label", { n: count(props.graph.nodes.length) })}
        aria-describedby="graph-keys"
        onKeyDown={key}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, y: event.clientY, far: 0 };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          const from = drag.current;
          if (from) {
            from.far += Math.hypot(event.clientX - from.x, event.clientY - from.y);
            if (from.far > 4) picture.current?.move(event.clientX - from.x, event.clientY - from.y);
            [from.x, from.y] = [event.clientX, event.clientY];
          } else picture.current?.mark(picture.current.at(event.offsetX, event.offsetY));
        }}
        onPointerUp={(event) => {
          const still = drag.current !== null && drag.current.far <= 4;
          drag.current = null;
          const hit = still ? picture.current?.at(event.offsetX, event.offsetY) : null;
          if (hit) open(hit.node);
        }}
        onPointerCancel={() => {
          drag.current = null;
        }}
      />
      <div class="picture-tools">
        <button type="button" aria-label={t("graph.in")} title={t("graph.in")} onClick={() => picture.current?.zoom(ZOOM)}>
          +
        </button>
        <button type="button" aria-label={t("graph.out")} title={t("graph.out")} onClick={() => picture.current?.zoom(1 / ZOOM)}>
          −
        </button>
        <button type="button" onClick={() => picture.current?.whole()}>
          {t("graph.whole")}
        </button>
      </div>
      <p class="picture-note" aria-hidden="true">
        {marked ? (
          <>
            <span class="badge">
              {marked.node.type === "decision" ? t("graph.decision") : term("kind", marked.node.kind)}
            </span>{" "}
            <bdi>{nameOf(marked.node)}</bdi>
          </>
        ) : (
          t("graph.point")
        )}
      </p>
      <p id="graph-keys" class="hint">
        {t("graph.keys")}
      </p>
    </div>
  );
}
