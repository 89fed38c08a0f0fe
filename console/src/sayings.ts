// The service's own sentences (why a run did something, what an audit found) in the language of the page. They hold ids,
// figures and times, never a user's words; one that is not known here is shown as it came.

import { t, term, when, type Word } from "./i18n";

const ID = "[0-9A-HJKMNP-TV-Z]{26}";
const TIME = "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z";
const DAY = "\\d{4}-\\d\\d-\\d\\d";

/** A sentence as the service builds it, with the places of its values, and the words for it. */
const SENTENCES: readonly (readonly [RegExp, Word])[] = (
  [
    [`open since (?<at>${TIME})`, "say.open_since"],
    ["points at (?<n>\\d+) records that are gone", "say.orphan"],
    ["expired (?<n>[\\d.]+) h ago, not swept", "say.overdue"],
    ["(?<n>\\d+) records are missing from the index", "say.missing"],
    ["(?<n>\\d+) records are ghosts in the index", "say.ghosts"],
    ["(?<n>\\d+) records are outdated in the index", "say.outdated"],
    ["entry (?<n>\\d+): missing", "say.ledger.missing"],
    ["entry (?<n>\\d+): does not follow its predecessor", "say.ledger.follows"],
    ["entry (?<n>\\d+): was changed", "say.ledger.changed"],
    ["entry (?<n>\\d+): head and last entry disagree", "say.ledger.head"],
    ["versions \\[(?<n>[\\d, ]+)\\] are not what the ledger recorded", "say.ledger.versions"],
    ["(?<n>\\d+) memories were not embedded; found by keyword only", "say.not_embedded"],
    ["(?<n>\\d+) memories came under another embedding model; found by keyword only", "say.other_model"],
    ["not used for (?<n>\\d+) days: found in the archive", "say.cold"],
    ["older than (?<n>\\d+) days: its text is read from the archive", "say.summary_only"],
    ["no turn for (?<n>\\d+) days: they are read from the archive", "say.turns"],
    ["important, to be looked at by a person this week", "say.drawn"],
    ["no value has the share that the policy asks for", "say.no_share"],
    ["too few of its episodes are left", "say.too_few"],
    ["its process ended each time", "say.process"],
    ["(?<n>\\d+) of the last (?<all>\\d+) tasks that spoke of it say the same", "say.share"],
    ["not used for (?<n>\\d+) days", "say.unused"],
    [`consolidated into ${ID}`, "say.consolidated"],
    [`no longer part of ${ID}`, "say.apart"],
    ["like episodes", "say.alike"],
    ["recalled", "say.recalled"],
    ["no such memory", "say.no_memory"],
    ["this credential lacks the permission '(?<name>\\w+)'", "say.lacks"],
    ["this credential does not cover the namespace", "say.not_covered"],
    ["the memory is at version (?<n>\\d+)", "say.at_version"],
    ["a deleted memory cannot be edited", "say.deleted_fixed"],
    ["a merged memory cannot be edited", "say.merged_fixed"],
    ["the time in which this deletion could be taken back is over", "say.too_late"],
    [`the same content was written again as ${ID}`, "say.again"],
    [`this memory was purged at (?<at>${TIME}): it was deleted at (?<then>${TIME}) by (?<by>.+?), because: (?<why>.+)`, "say.purged"],
    [`says the same as ${ID}`, "say.same"],
    ["its evidence changed", "say.evidence_changed"],
    ["its episodes came back", "say.episodes_back"],
    [`like episodes: (?<n>\\d+) times, (?<since>${DAY}) to (?<until>${DAY})`, "say.like"],
    [`like the episodes behind it: (?<n>\\d+) times, (?<since>${DAY}) to (?<until>${DAY})`, "say.like_more"],
    ["(?<n>\\d+) episodes", "say.episodes"],
    ["it was forgotten already", "say.forgotten_already"],
    ["its shelf life is over", "say.shelf_life"],
    ["it was restored already", "say.restored_already"],
    ["it was restored, and then forgotten for another reason", "say.forgotten_otherwise"],
    ["not forgotten: it was confirmed", "say.kept.confirmed"],
    ["not forgotten: the user corrected it", "say.kept.corrected"],
    ["not forgotten: the user called it important", "say.kept.important"],
  ] as const
).map(([pattern, word]) => [new RegExp(`^${pattern}$`, "s"), word] as const);

const WORTH = new RegExp(
  "^worth (?<worth>[\\d.]+): importance (?<importance>[\\d.]+), confidence (?<confidence>[\\d.]+), " +
    "unused for (?<days>\\d+) days(?<bad>, decisions that rested on it went badly)?" +
    `(?:, (?<share>\\d+%) of it is said by (?<other>${ID}))?$`,
);
const CARRIED_OUT = new RegExp(`^forgotten: (?<why>.+) \\(audit ${ID}\\)$`, "s");

/** Codes of the write gate: why a text was let in. */
function codes(text: string): string | null {
  const names = text.split(", ").map((name) => [name, term("reason", name)] as const);
  return names.every(([name, word]) => word !== name) ? names.map(([, word]) => word).join(t("say.comma")) : null;
}

/** The sentence in the language of the page, or as it came. */
export function say(text: string): string {
  const admitted = codes(text);
  if (admitted !== null) return admitted;
  const carried = CARRIED_OUT.exec(text)?.groups?.why;
  if (carried) return say(carried);
  const worth = WORTH.exec(text)?.groups;
  if (worth) {
    const told = [t("say.worth", worth)];
    if (worth.bad) told.push(t("say.worth.bad"));
    if (worth.share) told.push(t("say.worth.covered", worth));
    return told.join(t("say.comma"));
  }
  for (const [pattern, word] of SENTENCES) {
    const found = pattern.exec(text);
    if (!found) continue;
    const { at, since, then, until, why, ...rest } = found.groups ?? {};
    return t(word, {
      ...rest,
      ...(at ? { at: when(at) } : {}),
      ...(then ? { then: when(then) } : {}),
      ...(why ? { why: say(term("deleted", why)) } : {}),
      ...(since ? { since: when(since, false) } : {}),
      ...(until ? { until: when(until, false) } : {}),
    });
  }
  return text;
}

/** What a user, a person or a system has one of (or many of), in words; behind a colon stands which of them it is. */
export function slotName(slot: string): string {
  const [name = "", ...rest] = slot.split(": ");
  return [term("slot", name), ...rest].join(": ");
}
