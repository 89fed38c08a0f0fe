// What holds of a user most of the time, counted.

import { count, percent, t, term } from "../i18n";
import { Bar, Found, When } from "../parts/basics";
import { More, usePages } from "../parts/more";
import { Folded, Named } from "../parts/named";
import { Inline, Text } from "../parts/text";
import { href } from "../router";
import { slotName } from "../sayings";
import { session } from "../session";
import type { ProfileEntry } from "../types";

export function ProfileView() {
  const growing = usePages<ProfileEntry>("v1/profile", { ...session.scope(), limit: 50 });
  return (
    <Found of={growing.list} empty={(page) => !page.items.length && !page.next_cursor} nothing={t("profile.empty")}>
      {(page) => (
        <>
          <p class="hint">
            {t("profile.about")} <When at={(page as { updated_at?: string | null }).updated_at} />
          </p>
          <ol class="cards">
            {page.items.map((entry) => (
              <Entry key={entry.key} entry={entry} />
            ))}
          </ol>
          <More of={growing} />
        </>
      )}
    </Found>
  );
}

/** What an entry is about, in words; what tells it from others of its slot stands in the key. */
function named(entry: ProfileEntry): string {
  if (!entry.slot) return entry.tag ? `${t("field.tag")}: ${entry.tag}` : entry.key;
  const slot = slotName(entry.slot.split(": ", 1)[0] ?? entry.slot);
  return entry.subject && entry.subject !== "user" ? `${term("subject", entry.subject)} · ${slot}` : slot;
}

function Entry(props: { entry: ProfileEntry }) {
  const { entry } = props;
  const most = Math.max(1, ...entry.counts.map((item) => item.count));
  return (
    <li class="card">
      <h2 class="card-head">
        <Inline value={named(entry)} />
      </h2>
      <p class="meta">
        <code>{entry.key}</code>
      </p>
      <Text value={entry.value} />
      <Bar label={t("field.confidence")} value={entry.confidence} tone="strong" />
      <p class="meta">
        {t("profile.counted", { n: count(entry.count), all: count(entry.total), share: percent(entry.confidence) })}{" "}
        <When at={entry.last_updated} />
        {entry.confirmations.length > 0 && <span>{t("profile.confirmed", { n: count(entry.confirmations.length) })}</span>}
        {entry.conflict && <a href={href("conflicts", entry.conflict)}>{t("conflict.see")}</a>}
      </p>
      {entry.counts.length > 1 && (
        <div class="parts">
          {entry.counts.map((item) => (
            <Bar key={item.value} label={item.value} value={item.count} of={most} digits={0} />
          ))}
        </div>
      )}
      <Folded summary={t("profile.evidence", { n: count(entry.evidence.length) })}>
        {() => (
          <ul class="rows">
            {entry.evidence.map((id) => (
              <li key={id}>
                <Named id={id} />
              </li>
            ))}
          </ul>
        )}
      </Folded>
    </li>
  );
}
