// Groups and events of the reader: accepting or declining invitations, and leaving.

import { make, now } from '/assets/api.js';
import { authorHref } from '/assets/feed/card.js';
import { ask, reader } from '/assets/feed/reader.js';

// circlesOf returns the circles in which the reader has a role: owned, joined or invited.
export async function circlesOf(of) {
  const all = [];
  for (let after = ''; after !== null;) {
    const page = await ask('GET', `/v1/circles?${new URLSearchParams({ of, limit: 1000, ...(after ? { after } : {}) })}`);
    all.push(...page.circles);
    after = page.next_after;
  }
  return all;
}

const over = (c) => Boolean(c.until) && c.until <= now();

// takes reports whether the reader may address a post to one of their circles.
export const takes = (c) => (c.owner === reader.agent || c.post === 'members') && !over(c);

// groups shows in details the groups that the reader is in or invited to. acts are fail(error)
// and followed(), which is called when a timeline has other posts.
export async function groups(details, acts) {
  const summary = details.querySelector('summary'), list = details.querySelector('ul');
  const show = async () => {
    const [invited, joined] = await Promise.all([circlesOf('invited'), circlesOf('joined')]);
    if (invited.length + joined.length > 0) details.hidden = false; // and stays visible: the reader may be using it
    const n = invited.length;
    summary.textContent = n === 0 ? 'Groups' : `Groups · ${n} invitation${n === 1 ? '' : 's'}`;
    list.replaceChildren(...invited.map((c) => item(c, answers(c))), ...joined.map((c) => item(c, [wayOut(c)])));
  };
  const button = (text, name, press) => {
    const b = make('button', { type: 'button', className: name, textContent: text });
    b.addEventListener('click', press);
    return b;
  };
  const change = (text, name, method, path) => button(text, name, async (event) => {
    event.target.disabled = true;
    try {
      await ask(method, path);
      acts.followed();
      await show();
      summary.focus();
    } catch (error) {
      acts.fail(error);
      event.target.disabled = false;
    }
  });
  const mine = (c, what) => `/v1/circles/${encodeURIComponent(c.id)}/${what}/${encodeURIComponent(reader.agent)}`;
  const answers = (c) => [change('Join', 'join main', 'PUT', mine(c, 'members')), change('Decline', 'decline', 'DELETE', mine(c, 'invitations'))];
  const wayOut = (c) => {
    const sure = make('span', { hidden: true }, make('span', { textContent: 'You come back only if you are invited again. ' }),
      change('Leave it', 'bad', 'DELETE', mine(c, 'members')), ' ', button('Stay', 'stay', () => sureOf(false)));
    const leave = button('Leave', 'leave', () => sureOf(true));
    const sureOf = (is) => {
      leave.hidden = is;
      sure.hidden = !is;
      (is ? sure.querySelector('.bad') : leave).focus();
    };
    return make('span', {}, leave, sure);
  };
  const item = (c, buttons) => {
    const when = !c.until ? '' : over(c) ? ' · it has ended' : ` · until ${new Date(c.until * 1000).toLocaleString('en')}`;
    const by = make('span', { className: 'soft' }, ' by ', make('a', { href: authorHref(c.owner), textContent: c.owner }), when);
    const li = make('li', {}, make('b', { textContent: c.name || c.id }), by, make('span', { className: 'row' }, ...buttons));
    li.dataset.id = c.id;
    return li;
  };
  await show();
}
