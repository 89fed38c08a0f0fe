// What recall and context answered.

import { count, share, t, term } from "../i18n";
import { Badge, Bar, MemoryLink, When } from "../parts/basics";
import { Folded, Named } from "../parts/named";
import { Text } from "../parts/text";
import { href } from "../router";
import type { ContextAnswer, Hit, RecallAnswer } from "../types";
import { PARTS } from "../vocabulary";

export function Answer(props: { answer: RecallAnswer }) {
  const { answer } = props;
  const weights = answer.explain?.profile.weights ?? {};
  const out = Object.entries(answer.explain?.left_out ?? {});
  const next = answer.explain?.next ?? [];
  return (
    <>
      <p class="meta">
        {t("recall.took", { ms: answer.took_ms.toFixed(1), n: count(Number(answer.cost.candidates ?? 0)) })}
        {answer.degraded.map((name) => (
          <span key={name} class="badge severity-warning">
            {t("recall.degraded", { part: name })}
          </span>
        ))}
      </p>
      {answer.abstained && <p class="notice">{t("recall.abstained", { why: term("abstain", answer.reason ?? "") })}</p>}
      {answer.conflicts.map((item) => (
        <p key={item.id} class="notice">
          <a href={href("conflicts", item.id)}>{t("conflict.see")}</a> <bdi>{item.question}</bdi>
        </p>
      ))}
      {!answer.hits.length && <p class="empty">{t("recall.nothing")}</p>}
      <ol class="cards hits">
        {answer.hits.map((hit) => (
          <HitCard
            key={hit.id}
            hit={hit}
            weights={weights}
            multiplied={answer.explain?.profile.name === "experience" && !weights.recency}
          />
        ))}
      </ol>
      {next.length > 0 && (
        <Folded class="card" summary={t("recall.next", { n: count(next.length) })}>
          {() => (
            <ol class="rows">
              {next.map((item) => (
                <li key={item.id}>
                  <Named id={item.id} /> <strong>{share(item.score, 3)}</strong>{" "}
                  <span class="hint">
                    {PARTS.filter((part) => weights[part])
                      .map((part) => `${t(`part.${part}`)} ${share(item.parts[part])}`)
                      .join(" · ")}
                  </span>
                </li>
              ))}
            </ol>
          )}
        </Folded>
      )}
      <Folded class="card" open={out.length > 0 && out.length < 20} summary={t("recall.out", { n: count(out.length) })}>
        {() =>
          out.length === 0 ? (
            <p class="empty">{t("recall.out.none")}</p>
          ) : (
            <ul class="rows">
              {out.map(([id, why]) => (
                <li key={id}>
                  {/* What is someone else's is not asked for. */}
                  {why === "foreign" ? <MemoryLink id={id} /> : <Named id={id} />} — {term("out", why)}
                </li>
              ))}
            </ul>
          )
        }
      </Folded>
    </>
  );
}

/** ``multiplied``: the score is also multiplied by recency and importance (the profile "experience"). */
function HitCard(props: { hit: Hit; weights: Record<string, number>; multiplied: boolean }) {
  const { hit, weights } = props;
  const factors = ["origin_factor", "status_factor", "conflict_factor"].filter((name) => (hit.parts[name] ?? 1) !== 1);
  const raw = Object.entries(hit.parts).filter(([name]) => name.startsWith("raw_"));
  return (
    <li class="card">
      <h3 class="card-head">
        <MemoryLink id={hit.id} text={hit.summary || hit.id} />
      </h3>
      <p class="meta">
        <Badge group="status" name={hit.status} /> <Badge group="kind" name={hit.kind} /> <When at={hit.valid_from} date />
        {hit.pending && <span class="badge">{t("pending")}</span>}
      </p>
      {hit.content && hit.content !== hit.summary && <Text value={hit.content} most={400} />}
      <Bar label={t("recall.score")} value={hit.score} digits={3} tone="strong" />
      <div class="parts">
        {PARTS.filter((part) => part in hit.parts && weights[part]).map((part) => (
          <Bar key={part} label={`${t(`part.${part}`)} × ${share(weights[part])}`} value={hit.parts[part] ?? 0} digits={3} tone={`part-${part}`} />
        ))}
      </div>
      {props.multiplied && (
        <p class="hint">
          {(["recency", "importance"] as const).map((part) => `${t(`part.${part}`)} × ${share(hit.parts[part])}`).join(" · ")}
        </p>
      )}
      {factors.length > 0 && (
        <p class="hint">{factors.map((name) => `${term("factor", name)} × ${share(hit.parts[name])}`).join(" · ")}</p>
      )}
      {raw.length > 0 && (
        <p class="hint">
          {t("recall.raw")} {raw.map(([name, value]) => `${term("raw", name)} ${Number(value).toPrecision(3)}`).join(" · ")}
        </p>
      )}
    </li>
  );
}

export function Block(props: { answer: ContextAnswer }) {
  const { answer } = props;
  return (
    <>
      <p class="meta">
        {t("recall.tokens", { n: count(answer.tokens) })}
        {answer.abstained && <span class="badge severity-warning">{t("recall.block.abstained")}</span>}
      </p>
      {answer.text ? (
        <pre class="block" dir="auto" tabIndex={0} role="group" aria-label={t("recall.block")}>
          {answer.text}
        </pre>
      ) : (
        <p class="empty">{t("recall.block.empty")}</p>
      )}
    </>
  );
}
