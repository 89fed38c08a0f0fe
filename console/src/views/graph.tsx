// Memories and decisions as a graph, and the same as a list for those who do not see pictures.

import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api";
import { GraphCanvas, nameOf } from "../graph/canvas";
import { EDGES, tone } from "../graph/paint";
import { useLoad } from "../hooks";
import { count, t, term, zone } from "../i18n";
import { Badge, Check, choices, Found, Input, Select, When } from "../parts/basics";
import { Inline } from "../parts/text";
import { go, href, type Route } from "../router";
import { session } from "../session";
import type { Edge, Graph, Node } from "../graph/types";
import { KINDS, STATUSES, TYPES } from "../vocabulary";

const NEAR = "near_in_time";
const SHOWN = EDGES.filter((kind) => kind !== NEAR);
const PAGE = 50;

export function GraphView(props: { route: Route }) {
  const get = (name: string) => props.route.params.get(name) ?? "";
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set<string>(SHOWN));
  // Half of all edges say no more than what the times say: they come when somebody asks for them.
  const [near, setNear] = useState(false);
  const toggle = (kind: string, on: boolean) => {
    const next = new Set(shown);
    if (on) next.add(kind);
    else next.delete(kind);
    setShown(next);
    if (on && kind === NEAR) setNear(true);
  };
  const query = {
    ...session.scope(),
    kinds: get("kind"),
    memory_types: get("type"),
    status: get("status"),
    tag: get("tag"),
    since: get("since"),
    until: get("until"),
    ...zone(get("since"), get("until")),
    decisions: get("decisions") === "no" ? false : null,
    edges: near ? EDGES : SHOWN,
  };
  const found = useLoad((signal) => api.get<Graph>("v1/graph", query, signal), [query]);
  return (
    <>
      <GraphFilters at={props.route.params.toString()} get={get} />
      <Found of={found} empty={(graph) => !graph.nodes.length} nothing={t("graph.empty")}>
        {(graph) => <Shown graph={graph} shown={shown} toggle={toggle} />}
      </Found>
    </>
  );
}

function GraphFilters(props: { at: string; get: (name: string) => string }) {
  const [tag, setTag] = useState(props.get("tag"));
  const [since, setSince] = useState(props.get("since"));
  const [until, setUntil] = useState(props.get("until"));
  // The address leads: a link, or the way back, changes the fields.
  useEffect(() => {
    setTag(props.get("tag"));
    setSince(props.get("since"));
    setUntil(props.get("until"));
  }, [props.at]);
  const told = { kind: props.get("kind"), type: props.get("type"), status: props.get("status"), decisions: props.get("decisions") };
  const apply = (more: Record<string, string>) => go("graph", null, { ...told, tag, since, until, ...more });
  return (
    <form
      class="filters"
      aria-label={t("filters")}
      onSubmit={(event) => {
        event.preventDefault();
        apply({});
      }}
    >
      <Select label={t("field.kind")} value={told.kind} options={choices("kind", KINDS)} onChange={(kind) => apply({ kind })} />
      <Select label={t("field.memory_type")} value={told.type} options={choices("type", TYPES)} onChange={(type) => apply({ type })} />
      <Select label={t("field.status")} value={told.status} options={choices("status", STATUSES)} onChange={(status) => apply({ status })} />
      <Input label={t("field.tag")} value={tag} onInput={setTag} />
      <Input label={t("field.since")} type="date" value={since} onInput={setSince} />
      <Input label={t("field.until")} type="date" value={until} onInput={setUntil} />
      <Check label={t("graph.with_decisions")} value={told.decisions !== "no"} onChange={(on) => apply({ decisions: on ? "" : "no" })} />
      <button type="submit" class="primary">
        {t("filters.apply")}
      </button>
      <a class="button" href={href("graph")}>
        {t("filters.clear")}
      </a>
    </form>
  );
}

function Shown(props: { graph: Graph; shown: ReadonlySet<string>; toggle: (kind: string, on: boolean) => void }) {
  const { graph, shown, toggle } = props;
  const overdue = graph.nodes.filter((node) => node.overdue).length;
  const edges = (kind: string) => {
    const number = graph.counts.edges[kind];
    return number === undefined || (kind === NEAR && !shown.has(NEAR)) ? "" : ` (${count(number)})`;
  };
  return (
    <>
      <p class="meta" id="graph-sum">
        {t("graph.sum", {
          memories: count(graph.counts.memories),
          decisions: count(graph.counts.decisions),
          edges: count(graph.edges.length),
          clusters: count(graph.clusters.length),
          islands: count(graph.islands),
          overdue: count(overdue),
        })}
      </p>
      {graph.truncated && <p class="notice">{t("graph.truncated")}</p>}
      {(graph.edges_left_out ?? 0) > 0 && (
        <p class="notice">{t("graph.edges_left_out", { n: count(graph.edges_left_out ?? 0) })}</p>
      )}
      {graph.withheld.length > 0 && <p class="notice">{t("graph.withheld")}</p>}
      <GraphCanvas graph={graph} shown={shown} />
      <div class="legends">
        <fieldset class="legend">
          <legend>{t("graph.edges")}</legend>
          {EDGES.map((kind) => (
            <span key={kind} class="legend-item">
              <span class={`swatch line e-${kind}`} aria-hidden="true" />
              <Check
                label={`${term("edge", kind)}${edges(kind)}`}
                value={shown.has(kind)}
                onChange={(on) => toggle(kind, on)}
              />
            </span>
          ))}
        </fieldset>
        <Legend />
      </div>
      <NodeList graph={graph} />
    </>
  );
}

function Legend() {
  return (
    <section class="legend" aria-label={t("graph.legend")}>
      <ul>
        {KINDS.map((kind) => (
          <li key={kind}>
            <span class={`swatch g-${kind}`} aria-hidden="true" /> {term("kind", kind)}
          </li>
        ))}
        <li>
          <span class="swatch diamond g-decision" aria-hidden="true" /> {t("graph.decision")}
        </li>
        <li>
          <span class="swatch hollow" aria-hidden="true" /> {t("graph.island")}
        </li>
        <li>
          <span class="swatch ringed" aria-hidden="true" /> {t("graph.overdue")}
        </li>
        <li>{t("graph.hulls")}</li>
      </ul>
    </section>
  );
}

function NodeList(props: { graph: Graph }) {
  const { graph } = props;
  const [which, setWhich] = useState("all");
  const [words, setWords] = useState("");
  const [page, setPage] = useState(0);
  const near = useMemo(() => neighbours(graph), [graph]);
  const options: [string, string][] = [
    ["all", t("any")],
    ["island", t("graph.islands")],
    ["overdue", t("graph.overdue")],
    ["decision", t("graph.decisions")],
    ...graph.clusters
      .slice(0, 100)
      .map((cluster): [string, string] => [
        `c${cluster.id}`,
        t("graph.cluster", { n: cluster.id + 1, size: count(cluster.size), tags: cluster.tags.slice(0, 3).join(", ") }),
      ]),
  ];
  const sought = words.trim().toLowerCase();
  const nodes = graph.nodes.filter((node) => {
    if (sought && !nameOf(node).toLowerCase().includes(sought)) return false;
    if (which === "island") return node.island;
    if (which === "overdue") return node.overdue;
    if (which === "decision") return node.type === "decision";
    return which === "all" || which === `c${node.cluster}`;
  });
  const last = Math.max(0, Math.ceil(nodes.length / PAGE) - 1);
  const at = Math.min(page, last);
  return (
    <section aria-labelledby="graph-list">
      <h2 id="graph-list">{t("graph.list")}</h2>
      <div class="filters">
        <Select label={t("graph.which")} value={which} options={options} onChange={setWhich} />
        <Input label={t("graph.words")} value={words} onInput={setWords} />
      </div>
      <p class="hint" role="status">
        {t("graph.listed", { n: count(nodes.length), page: at + 1, pages: last + 1 })}
      </p>
      <ol class="rows" start={at * PAGE + 1}>
        {nodes.slice(at * PAGE, (at + 1) * PAGE).map((node) => (
          <NodeRow key={node.id} node={node} near={near.get(node.id) ?? []} />
        ))}
      </ol>
      <div class="buttons">
        <button type="button" disabled={at === 0} onClick={() => setPage(at - 1)}>
          {t("page.before")}
        </button>
        <button type="button" disabled={at >= last} onClick={() => setPage(at + 1)}>
          {t("page.next")}
        </button>
      </div>
    </section>
  );
}

interface Neighbour {
  node: Node;
  edge: Edge;
}

function neighbours(graph: Graph): Map<string, Neighbour[]> {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const near = new Map<string, Neighbour[]>();
  for (const edge of graph.edges) {
    if (edge.kind === NEAR) continue;
    for (const [own, other] of [
      [edge.from, edge.to],
      [edge.to, edge.from],
    ] as const) {
      const node = byId.get(other);
      const list = near.get(own);
      if (!node) continue;
      if (list) list.push({ node, edge });
      else near.set(own, [{ node, edge }]);
    }
  }
  return near;
}

function NodeRow(props: { node: Node; near: Neighbour[] }) {
  const { node, near } = props;
  const [open, setOpen] = useState(false);
  return (
    <li>
      <span class={`swatch ${tone(node)} ${node.type === "decision" ? "diamond" : ""}`} aria-hidden="true" />{" "}
      <NodeLink node={node} /> {node.type === "memory" && <Badge group="kind" name={node.kind} />}{" "}
      {node.type === "memory" && <Badge group="status" name={node.status} />}
      {node.type === "decision" && <span class="badge">{t("graph.decision")}</span>}{" "}
      {node.island && <span class="badge">{t("graph.island")}</span>}{" "}
      {node.overdue && <span class="badge severity-error">{t("graph.overdue")}</span>}{" "}
      <When at={node.created_at} date />{" "}
      {near.length > 0 && (
        <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t("graph.near", { n: count(near.length) })}
        </button>
      )}
      {open && (
        <ul>
          {near.slice(0, 40).map((item) => (
            <li key={`${item.edge.kind} ${item.edge.from} ${item.edge.to}`}>
              {term("edge", item.edge.kind)}
              {": "}
              <NodeLink node={item.node} />
            </li>
          ))}
          {near.length > 40 && <li>{t("graph.near.more", { n: count(near.length - 40) })}</li>}
        </ul>
      )}
    </li>
  );
}

function NodeLink(props: { node: Node }) {
  const { node } = props;
  return (
    <a href={href(node.type === "memory" ? "memory" : "decisions", node.id)}>
      <Inline value={nameOf(node)} />
    </a>
  );
}
