// A reader's learned interests, and the items of a page related to liked ones.

import { make, short } from '/assets/api.js';

const ACTS = ['click', 'like', 'dislike', 'hide'];

const effect = (l) => (l.factor !== undefined ? ` × ${short(l.factor)}` : l.score !== undefined ? ` +${short(l.score)}` : '');
// learnedOne describes a feature and its effect.
export const learnedOne = (l) => `${l.kind} ${l.value}${effect(l)}`;
const evidence = (l) => ACTS.map((act) => [l[`${act}s`] ?? 0, act]).filter(([n]) => n > 0)
  .map(([n, act]) => `${n} ${act}${n === 1 ? '' : 's'}`).join(', ');

// learnedChips returns a chip for each feature, with the score that it adds or the factor that it
// applies.
export const learnedChips = (learned) => (learned ?? []).map((l) => make('span', {
  className: l.factor === undefined ? 'chip' : 'chip less', textContent: learnedOne(l), title: evidence(l),
}));

// learnedText lists the strongest features.
export const learnedText = (learned) => (learned ?? []).slice(0, 5).map(learnedOne).join(', ');

// related returns the tags and the author that an item shares with liked ones.
export function related(item, liked) {
  const tags = new Set(liked.flatMap((l) => l.tags ?? []));
  const authors = new Set(liked.map((l) => l.author_id).filter(Boolean));
  return [...(item.tags ?? []).filter((tag) => tags.has(tag)), ...(authors.has(item.author_id) ? [item.author_id] : [])];
}
