// Keys and gestures: r refreshes, n opens the composer, j and k move between cards, arrows
// between tabs, and pulling the page down refreshes.

const FAR = 80; // px of pulling from which a release refreshes

// beginKeys takes the actions of the keys: refresh(), compose() and tab(name).
export function beginKeys({ refresh, compose, tab }) {
  const tabs = [...document.querySelectorAll('[role=tab]')];
  const name = (t) => t.id.slice('tab-'.length);
  for (const t of tabs) t.addEventListener('click', () => tab(name(t)));
  document.querySelector('[role=tablist]').addEventListener('keydown', (e) => {
    const at = tabs.indexOf(e.target), last = tabs.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    tabs[to].focus();
    tab(name(tabs[to]));
  });
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, textarea, select, dialog')) return;
    if (e.key === 'r') refresh();
    if (e.key === 'n') { e.preventDefault(); compose(); }
    if (e.key === 'j' || e.key === 'k') step(e.key === 'j' ? 1 : -1);
  });
}

// step moves the focus to the next or previous card.
function step(by) {
  const cards = [...document.querySelectorAll('#items .card')];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const to = cards[at < 0 ? 0 : at + by]?.querySelector('.reason');
  to?.focus();
}

export function watchPull(refresh) {
  const pull = document.getElementById('pull');
  let from = null, pulled = 0;
  addEventListener('touchstart', (e) => {
    from = scrollY === 0 && !e.target.closest?.('dialog') ? e.touches[0].clientY : null;
  }, { passive: true });
  addEventListener('touchmove', (e) => {
    if (from === null) return;
    pulled = Math.max(0, e.touches[0].clientY - from) / 2;
    pull.style.height = `${Math.min(pulled, FAR + 20)}px`;
    pull.classList.toggle('armed', pulled >= FAR);
  }, { passive: true });
  const end = () => {
    if (pulled >= FAR) refresh();
    from = null;
    pulled = 0;
    pull.style.height = '0';
    pull.classList.remove('armed');
  };
  addEventListener('touchend', end);
  addEventListener('touchcancel', end);
}
