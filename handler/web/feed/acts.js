// The effects of likes and hides, reported after the next refresh.

import { make } from '/assets/api.js';
import { asItem } from '/assets/feed/card.js';
import { learnedNow, loadProfile } from '/assets/feed/interests.js';
import { learnedText, related } from '/assets/feed/learned.js';

let acts = []; // likes and hides since the last refresh

export const acted = (type, item) => { acts.push({ type, item }); };
export const forgetActs = () => { acts = []; };

// whatChanged describes the effects of the acts before a page: the interests learned from them,
// and which of its items share a tag or author with a liked one. '' without acts.
export async function whatChanged(docs, cards) {
  const since = acts;
  acts = [];
  if (since.length === 0) return '';
  const before = learnedText(learnedNow());
  await loadProfile();
  const count = (type) => since.filter((a) => a.type === type).length;
  const liked = since.filter((a) => a.type === 'like').map((a) => a.item);
  let alike = 0;
  docs.map(asItem).forEach((item, i) => {
    const common = related(item, liked);
    if (common.length === 0) return;
    alike++;
    cards[i].querySelector('.meta').append(make('span', { className: 'chip liked', textContent: `as liked: ${common.join(', ')}` }));
  });
  const after = learnedText(learnedNow());
  return [
    `Since the last refresh: ${count('like')} liked, ${count('hide')} hidden.`,
    liked.length ? `${alike} of ${docs.length} items share a tag or the author with what was liked.` : '',
    count('hide') ? 'What was hidden stays away.' : '',
    after && after !== before ? `Learned now: ${after}.` : '',
  ].filter(Boolean).join(' ');
}
