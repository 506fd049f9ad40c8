// The reason for an entry, from its in_feed, as a sentence.

import { make, short } from '/assets/api.js';
import { learnedOne } from '/assets/feed/learned.js';
import { reader } from '/assets/feed/reader.js';

const LEARNED = 3; // number of learned features named

const trends = { hot: 'Liked and commented on very much right now', warm: 'Liked and commented on much right now' };

const timeline = {
  self: () => 'You have posted it',
  follow: (name) => `You follow ${name}`,
  domain: () => 'You follow everything on this server',
  audience: () => 'It is for a circle that you are in',
  mention: () => 'You are mentioned',
};

const learned = {
  tag: (v) => `you have read about ${v}`, author: (v) => `you have read ${v}`,
  lang: (v) => `you read in the language ${v}`, word: (v) => `you have read about “${v}”`,
};

const reasons = {
  keyword: (r) => `it mentions “${r.value}”`,
  learned: (r) => learned[r.kind]?.(r.value),
  fresh: () => 'it is new',
  popular: () => 'others like it',
  co_read: () => 'people who read what you read also read it',
};

const and = (all) => (all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`);

// because lists all interests together, at the position of the first.
function because(why) {
  const interests = (why ?? []).filter((r) => r.type === 'interest').map((r) => r.value);
  const all = (why ?? []).filter((r) => r.type !== 'interest' || r.value === interests[0])
    .map((r) => (r.type === 'interest' ? `you like ${and(interests)}` : reasons[r.type]?.(r))).filter(Boolean);
  return all.length ? `Because ${all.join(', and ')}` : '';
}

// reason returns the sentence, without a full stop.
export function reason(doc) {
  const x = doc.in_feed ?? {};
  const name = doc.author?.name || doc.author?.id || 'its author';
  const told = [
    x.is_promoted || x.source === 'promoted' ? 'Promoted' : '',
    x.source === 'explore' ? 'Drawn at random, to learn whether readers like it' : '',
    x.source === 'trending' ? trends[x.trend] ?? 'Much liked and commented on for its age' : '',
    timeline[x.reason]?.(name) ?? '',
    because(x.why),
    x.shown_before ? 'Shown before: there is nothing unseen left' : '',
  ].filter(Boolean);
  return told.join('. ') || (reader.agent ? 'Chosen for you' : 'New');
}

const details = {
  following: 'It comes from those whom you follow.',
  trending: 'It is among what was liked and commented on most for its age, in the last seven days.',
  promoted: 'It is shown here for some time, whatever its score.',
  explore: 'One position in so many is drawn at random.',
};

// detail returns a longer explanation, used if there are no scores.
export const detail = (doc) => details[doc.in_feed?.source]
  ?? 'It is placed by your interests, what was learned of you, its age, and how many others like it.';

// marks returns chips for reasons other than the entry's own score.
export function marks(x) {
  const mark = (text, title) => make('span', { className: 'chip mark', textContent: text, title });
  return [
    ...(x?.is_promoted ? [mark('promoted', 'Somebody has it shown here')] : []),
    ...(x?.trend ? [mark(x.trend, trends[x.trend] ?? '')] : []),
    ...(x?.source === 'explore' ? [mark('exploration', 'Drawn at random, to learn whether readers like it')] : []),
    ...(x?.shown_before ? [mark('shown before', 'There is nothing unseen left for this page')] : []),
  ];
}

// score describes the parts of a candidate's score in an explanation.
export function score(c) {
  const gains = [...(c.relevance?.tags ?? []), ...(c.relevance?.keywords ?? [])]
    .map((g) => `${g.name} +${short(g.score)}${g.in === 'summary' ? ' in the summary' : ''}`);
  const features = (c.relevance?.learned ?? []).slice(0, LEARNED).map(learnedOne);
  const fits = [...gains, ...(features.length ? [`learned: ${features.join(', ')}`] : [])].join(', ') || 'fresh';
  const popularity = c.popularity?.factor > 1 ? ` · popularity ${short(c.popularity.factor)}` : '';
  const coReaders = c.co_readers ? ` · co-readers × ${short(c.co_readers.factor)}` : '';
  return `${fits} · decay ${short(c.decay)}${popularity}${coReaders} · rank ${c.rank}`;
}
