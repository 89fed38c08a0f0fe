// The frame: who is let in, whose memory is shown, the ways through the rooms, and the room itself.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "./api";
import { asRefusal, useAction } from "./hooks";
import { speak, t, tongue, type Language, type Word } from "./i18n";
import { announce, listen } from "./live";
import { Input, Loading, Problem } from "./parts/basics";
import { href, parse, type Route } from "./router";
import { session, tastes } from "./session";
import { applyTheme, theme, type Theme } from "./theme";
import { AuditsView } from "./views/audits";
import { ConflictsView } from "./views/conflicts";
import { DecisionsView } from "./views/decisions";
import { GraphView } from "./views/graph";
import { MaintenanceView } from "./views/maintenance";
import { MemoryView } from "./views/memory";
import { PlaygroundView } from "./views/playground";
import { PoliciesView } from "./views/policies";
import { ProfileView } from "./views/profile";
import { TimelineView } from "./views/timeline";

interface Room {
  word: Word;
  show: (route: Route) => JSX.Element;
  /** Whether it is about one user's memory. */
  personal: boolean;
  inMenu: boolean;
}

const ROOMS: Record<string, Room> = {
  timeline: { word: "view.timeline", show: (r) => <TimelineView route={r} />, personal: true, inMenu: true },
  graph: { word: "view.graph", show: (r) => <GraphView route={r} />, personal: true, inMenu: true },
  memory: { word: "view.memory", show: (r) => <MemoryView key={r.id} route={r} />, personal: false, inMenu: false },
  playground: { word: "view.playground", show: (r) => <PlaygroundView route={r} />, personal: true, inMenu: true },
  profile: { word: "view.profile", show: () => <ProfileView />, personal: true, inMenu: true },
  conflicts: { word: "view.conflicts", show: (r) => <ConflictsView route={r} />, personal: true, inMenu: true },
  decisions: { word: "view.decisions", show: (r) => <DecisionsView route={r} />, personal: true, inMenu: true },
  audits: { word: "view.audits", show: (r) => <AuditsView route={r} />, personal: false, inMenu: true },
  maintenance: { word: "view.maintenance", show: (r) => <MaintenanceView route={r} />, personal: false, inMenu: true },
  policies: { word: "view.policies", show: () => <PoliciesView />, personal: false, inMenu: true },
};

function useTurn(): () => void {
  const [, turn] = useState(0);
  return () => turn((before) => before + 1);
}

function route(): Route {
  const found = parse(location.hash);
  const user = found.params.get("user");
  if (user !== null) session.look(user, found.params.get("ns") ?? "");
  return found;
}

function place(): string {
  const { view, id } = parse(location.hash);
  return JSON.stringify([view, id]);
}

export function App() {
  const again = useTurn();
  const [at, setAt] = useState(route);
  const main = useRef<HTMLElement>(null);
  const [opened, setOpened] = useState<{ error: ReturnType<typeof asRefusal> | null; turn: number }>({
    error: null,
    turn: 0,
  });

  useEffect(() => session.onChange(again), []);
  useEffect(() => {
    let before = place();
    const moved = () => {
      setAt(route());
      if (place() === before) return; // only a filter changed: the focus stays in it
      before = place();
      // A new page begins at its top, for eyes, keyboards and screen readers alike.
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    };
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => {
    if (session.open) return;
    const begin = async () => {
      try {
        if (await api.admits(session.key)) session.enter(session.key);
        else session.leave();
      } catch (error) {
        setOpened((before) => ({ ...before, error: asRefusal(error) }));
      }
    };
    if (session.open === null) void begin();
  }, [opened.turn]);

  const room = ROOMS[at.view];
  const title = room ? t(room.word) : t("view.unknown");
  useEffect(() => {
    document.title = `${title} · Rearview`;
  }, [title, tongue.now]);

  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("skip")}
      </a>
      <header class="top">
        <p class="brand">
          Rearview <span>{t("console")}</span>
        </p>
        {session.open && <Whose key={`${session.user}\n${session.namespace}`} at={at} />}
        <Tastes onChange={again} />
      </header>
      {session.open && <Menu at={at} />}
      <main id="main" ref={main} tabIndex={-1} aria-label={title}>
        <h1>{session.open ? title : t("welcome")}</h1>
        {opened.error && session.open === null ? (
          <Problem
            error={opened.error}
            retry={() => setOpened((before) => ({ error: null, turn: before.turn + 1 }))}
          />
        ) : session.open === null ? (
          <Loading />
        ) : !session.open ? (
          <KeyForm />
        ) : !room ? (
          <p class="empty">{t("view.none")}</p>
        ) : room.personal && !session.user ? (
          <p class="empty">{t("whose.first")}</p>
        ) : (
          <div key={`${at.view} ${session.user} ${session.namespace} ${tongue.now}`}>{room.show(at)}</div>
        )}
      </main>
      <Live />
    </>
  );
}

function Live() {
  const [text, setText] = useState("");
  useEffect(() => listen(setText), []);
  return (
    <div class="quiet" role="status" aria-live="polite">
      {text}
    </div>
  );
}

function KeyForm() {
  const [key, setKey] = useState("");
  const action = useAction();
  const [unknown, setUnknown] = useState(false);
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(async () => {
          const trimmed = key.trim();
          const admitted = trimmed !== "" && (await api.admits(trimmed));
          setUnknown(!admitted);
          if (admitted) {
            session.enter(trimmed);
            announce(t("key.taken"));
          }
        });
      }}
    >
      <p>{t("key.why")}</p>
      <Input label={t("key")} type="password" value={key} onInput={setKey} required hint={t("key.where")} />
      {unknown && (
        <p class="problem" role="alert">
          {t("key.unknown")}
        </p>
      )}
      <Problem error={action.error} />
      <button type="submit" class="primary" disabled={action.busy}>
        {t("key.enter")}
      </button>
    </form>
  );
}

function Whose(props: { at: Route }) {
  const [user, setUser] = useState(session.user);
  const [namespace, setNamespace] = useState(session.namespace);
  return (
    <form
      class="whose"
      role="search"
      aria-label={t("whose")}
      onSubmit={(event) => {
        event.preventDefault();
        session.look(user.trim(), namespace.trim());
        const there = ROOMS[props.at.view]?.inMenu ? props.at.view : "timeline";
        location.hash = href(there);
      }}
    >
      <Input label={t("field.user_id")} value={user} onInput={setUser} required />
      <Input label={t("field.namespace")} value={namespace} onInput={setNamespace} placeholder={t("whose.default")} />
      <button type="submit" class="primary">
        {t("whose.show")}
      </button>
    </form>
  );
}

function Menu(props: { at: Route }) {
  return (
    <nav aria-label={t("menu")}>
      <ul>
        {Object.entries(ROOMS)
          .filter(([, room]) => room.inMenu)
          .map(([name, room]) => (
            <li key={name}>
              <a href={href(name)} aria-current={props.at.view === name ? "page" : undefined}>
                {t(room.word)}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
}

function Tastes(props: { onChange: () => void }) {
  const themes: [Theme, Word][] = [
    ["auto", "theme.auto"],
    ["light", "theme.light"],
    ["dark", "theme.dark"],
  ];
  const languages: [Language, string][] = [
    ["en", "English"],
    ["zh", "中文"],
  ];
  return (
    <div class="tastes">
      <label class="quiet" for="language">
        {t("language")}
      </label>
      <select
        id="language"
        value={tongue.now}
        onChange={(event) => {
          const chosen = event.currentTarget.value as Language;
          tastes.set("language", chosen);
          speak(chosen);
          props.onChange();
        }}
      >
        {languages.map(([value, name]) => (
          <option key={value} value={value} lang={value} selected={value === tongue.now}>
            {name}
          </option>
        ))}
      </select>
      <label class="quiet" for="theme">
        {t("theme")}
      </label>
      <select
        id="theme"
        value={theme()}
        onChange={(event) => {
          applyTheme(event.currentTarget.value as Theme);
          props.onChange();
          dispatchEvent(new Event("themechange"));
        }}
      >
        {themes.map(([value, word]) => (
          <option key={value} value={value} selected={value === theme()}>
            {t(word)}
          </option>
        ))}
      </select>
      {session.open && !session.free && (
        <button type="button" onClick={() => session.leave()}>
          {t("key.leave")}
        </button>
      )}
    </div>
  );
}
