// What a score is made of, as parts of a bar and in words.

import { age, short } from '/assets/api.js';

// split splits a score into what is added: the summands of the relevance after the decay, then what
// popularity adds to them, then co-readers, or in home the reader's affinity to the author.
export function split({ base, gains, relevance, decay, popularity, score }) {
  const plain = Math.min(base, relevance), declared = Math.min(gains, relevance - plain);
  const fresh = relevance * decay, popular = fresh * popularity;
  return [
    ['base', plain * decay], ['interests', declared * decay], ['learned', (relevance - plain - declared) * decay],
    ['popularity', popular - fresh], ['co-readers', score - popular],
  ];
}

export const sum = (gains) => (gains ?? []).reduce((all, g) => all + g.score, 0);

// explained splits the score of a candidate of an explanation.
export function explained(c) {
  const popularity = c.popularity?.factor ?? 1;
  if (c.affinity) return split({ base: c.base, gains: 0, relevance: c.base, decay: c.decay, popularity, score: c.score });
  const r = c.relevance ?? { total: 0, base: 0 };
  return split({ base: r.base, gains: sum(r.tags) + sum(r.keywords), relevance: r.total, decay: c.decay, popularity, score: c.score });
}

const gain = (g) => `${g.name ?? `${g.kind} ${g.value}`} ${g.score ? `+${short(g.score)}` : `× ${short(g.factor ?? 1)}`}`;

// inWords writes the score of a candidate of an explanation as a product.
export function inWords(c) {
  const popularity = c.popularity ? short(c.popularity.factor) : '?';
  if (c.affinity) return `${age(c.age)} old · base ${short(c.base)} × decay ${short(c.decay)} × popularity ${popularity} × affinity ${short(c.affinity.factor)} = ${short(c.score)}`;
  const r = c.relevance, gains = r ? [...(r.tags ?? []), ...(r.keywords ?? []), ...(r.learned ?? [])].map(gain).join(', ') : '';
  return `${age(c.age)} old · relevance ${r ? short(r.total) : '?'}${gains ? ` (${gains})` : ''} × decay ${short(c.decay)} × popularity ${popularity}`
    + `${c.co_readers ? ` × co-readers ${short(c.co_readers.factor)}` : ''} = ${short(c.score)}`;
}
