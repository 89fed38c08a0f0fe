// Who looks, and whose memory is looked at. The key lives in this tab only; tastes (language, theme) stay.

type Listener = () => void;

const KEY = "rearview.key";
const USER = "rearview.user";
const NAMESPACE = "rearview.namespace";

type Store = () => Storage;
const tab: Store = () => sessionStorage;
const browser: Store = () => localStorage;

function read(store: Store, name: string): string | null {
  try {
    return store().getItem(name);
  } catch {
    return null; // storage is switched off
  }
}

function keep(store: Store, name: string, value: string | null): void {
  try {
    if (value === null || value === "") store().removeItem(name);
    else store().setItem(name, value);
  } catch {
    // Then it is asked for again after a reload.
  }
}

class Session {
  key: string | null = read(tab, KEY);
  /** Whether the API has let this caller in: unknown until it was asked. */
  open: boolean | null = null;
  /** Whether no key is needed here. */
  free = false;
  user: string = read(tab, USER) ?? "";
  namespace: string = read(tab, NAMESPACE) ?? "";
  private listeners = new Set<Listener>();

  onChange(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private told(): void {
    for (const listener of this.listeners) listener();
  }

  enter(key: string | null): void {
    this.key = key;
    this.open = true;
    this.free = key === null;
    keep(tab, KEY, key);
    this.told();
  }

  leave(): void {
    this.key = null;
    this.open = false;
    keep(tab, KEY, null);
    this.told();
  }

  /** The API did not take the key (any more). */
  refused(): void {
    if (this.open) this.leave();
  }

  look(user: string, namespace: string): void {
    if (user === this.user && namespace === this.namespace) return;
    this.user = user;
    this.namespace = namespace;
    keep(tab, USER, user);
    keep(tab, NAMESPACE, namespace);
    this.told();
  }

  /** The query fields that say whose memory it is about. */
  scope(): { user_id: string; namespace?: string } {
    return this.namespace ? { user_id: this.user, namespace: this.namespace } : { user_id: this.user };
  }

  /** The namespace alone, where no user is meant. */
  room(): { namespace?: string } {
    return this.namespace ? { namespace: this.namespace } : {};
  }
}

export const session = new Session();
export const tastes = {
  get: (name: string) => read(browser, `rearview.${name}`),
  set: (name: string, value: string | null) => keep(browser, `rearview.${name}`, value),
};
