// How long memories live in a namespace, and what becomes of them: data that an admin may change.

import { useState } from "preact/hooks";
import { api } from "../api";
import { useAction, useLoad } from "../hooks";
import { t, term } from "../i18n";
import { Check, choices, Found, Input, Problem, Select, When } from "../parts/basics";
import { More, usePages } from "../parts/more";
import { session } from "../session";

type Value = string | number | boolean | null;
type Part = Record<string, Value>;
type Policy = Record<string, Value | Part> & { version: number; updated_at: string | null; updated_by: string | null };

const FIXED = new Set(["namespace", "version", "updated_at", "updated_by"]);
const WORDS: Record<string, readonly string[]> = {
  "forgetting.mode": ["off", "propose", "auto"],
  conflicts: ["ask", "latest", "trusted", "keep_both"],
};

function isPart(value: Value | Part | undefined): value is Part {
  return typeof value === "object" && value !== null;
}

export function PoliciesView() {
  const found = useLoad((signal) => api.get<Policy>("v1/policies", session.room(), signal), []);
  return (
    <>
      <Found of={found}>
        {(policy) => <Form key={policy.version} policy={policy} onChange={found.set} reload={found.reload} />}
      </Found>
      {found.data && <Versions key={found.data.version} />}
    </>
  );
}

function Form(props: { policy: Policy; onChange: (policy: Policy) => void; reload: () => void }) {
  const { policy } = props;
  const [form, setForm] = useState(policy);
  const action = useAction();
  const put = (part: string | null, name: string, value: Value) =>
    setForm((before) =>
      part === null
        ? { ...before, [name]: value }
        : { ...before, [part]: { ...(before[part] as Part), [name]: value } },
    );
  const save = () =>
    action.run(async () => {
      const body: Record<string, unknown> = { ...session.room(), if_version: policy.version };
      for (const [name, value] of Object.entries(form)) {
        if (FIXED.has(name)) continue;
        const before = policy[name];
        if (isPart(value)) {
          const changed = Object.entries(value).filter(([key, item]) => item !== (before as Part)[key]);
          if (changed.length) body[name] = Object.fromEntries(changed);
        } else if (value !== before) body[name] = value;
      }
      props.onChange(await api.patch<Policy>("v1/policies", body));
    }, t("done.changed"));
  const own = Object.entries(form).filter(([name]) => !FIXED.has(name));
  const changed = JSON.stringify(form) !== JSON.stringify(policy);
  return (
    <form
      aria-label={t("view.policies")}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <p class="meta">
        {t("version", { n: policy.version })} · {policy.updated_at ? <When at={policy.updated_at} /> : t("policy.default")}{" "}
        {policy.updated_by && (
          <>
            {t("by")} <bdi>{policy.updated_by}</bdi>
          </>
        )}
      </p>
      <p class="hint">{t("policy.about")}</p>
      {own.map(([name, value]) =>
        isPart(value) ? (
          <fieldset key={name} class="card">
            <legend>{term("policy", name)}</legend>
            <div class="filters">
              {Object.entries(value).map(([key, item]) => (
                <One key={key} name={`${name}.${key}`} value={item} first={(policy[name] as Part)[key] ?? null} onChange={(to) => put(name, key, to)} />
              ))}
            </div>
          </fieldset>
        ) : null,
      )}
      <fieldset class="card">
        <legend>{t("policy.more")}</legend>
        <div class="filters">
          {own.map(([name, value]) =>
            isPart(value) ? null : (
              <One key={name} name={name} value={value} first={policy[name] as Value} onChange={(to) => put(null, name, to)} />
            ),
          )}
        </div>
      </fieldset>
      <Problem error={action.error} retry={props.reload} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={action.busy || !changed}>
          {t("save")}
        </button>
        <button type="button" disabled={!changed} onClick={() => setForm(policy)}>
          {t("cancel")}
        </button>
      </div>
    </form>
  );
}

/** A field as its value asks for: words, yes or no, text, or a number that may be left empty. */
function One(props: { name: string; value: Value; first: Value; onChange: (value: Value) => void }) {
  const { name, value } = props;
  const words = WORDS[name];
  const label = term("policy", name);
  if (words)
    return (
      <Select
        label={label}
        value={value === null ? "" : String(value)}
        options={name === "conflicts" ? [["", t("policy.installed")], ...choices("policy.word", words, null)] : choices("policy.word", words, null)}
        onChange={(to) => props.onChange(to === "" ? null : to)}
      />
    );
  if (typeof props.first === "boolean") return <Check label={label} value={value === true} onChange={props.onChange} />;
  if (typeof props.first === "string")
    return <Input label={label} value={value === null ? "" : String(value)} onInput={props.onChange} />;
  return (
    <Input
      label={label}
      type="number"
      min={0}
      step="any"
      value={value === null ? "" : String(value)}
      placeholder={t("policy.never")}
      onInput={(to) => props.onChange(to === "" ? null : Number(to))}
    />
  );
}

function Versions() {
  const growing = usePages<Policy>("v1/policies/history", { ...session.room(), limit: 20 });
  return (
    <section class="card" aria-labelledby="policy-history">
      <h2 id="policy-history">{t("memory.history")}</h2>
      <Found of={growing.list} empty={(page) => !page.items.length} nothing={t("policy.unchanged")}>
        {(page) => (
          <>
            <ol class="versions">
              {page.items.map((item) => (
                <li key={item.version}>
                  <details>
                    <summary>
                      {t("version", { n: item.version })} · <When at={item.updated_at} /> <bdi>{item.updated_by}</bdi>
                    </summary>
                    <pre tabIndex={0}>{JSON.stringify(item, null, 2)}</pre>
                  </details>
                </li>
              ))}
            </ol>
            <More of={growing} />
          </>
        )}
      </Found>
    </section>
  );
}
