// A result of the search is one control, not a link in an option.
const results = document.getElementById('tsd-search-results');
const field = document.getElementById('tsd-search-input');
const root = new URL(document.documentElement.dataset.base.replace(/\/?$/, '/'), location.href).href;

field.addEventListener(
  'focus',
  () => {
    const script = document.createElement('script');
    script.src = `${root}assets/excerpts.js`;
    document.head.append(script);
  },
  { once: true },
);

/** Shows the words around the first one that the reader typed. */
function addExcerpt(link) {
  const text = window.siteExcerpts?.[link.dataset.href.slice(root.length)];
  if (text === undefined) return;
  const words = field.value.toLowerCase().split(/\s+/);
  const lower = text.toLowerCase();
  const places = words.map((word) => (word === '' ? -1 : lower.indexOf(word))).filter((place) => place !== -1);
  const from = Math.max(0, text.lastIndexOf(' ', Math.min(...places, text.length) - 40));
  const start = places.length === 0 ? 0 : from;
  const shown = document.createElement('span');
  shown.className = 'site-excerpt';
  shown.textContent = `${start > 0 ? '…' : ''}${text.slice(start, start + 140)}${text.length > start + 140 ? '…' : ''}`;
  link.append(shown);
}

new MutationObserver(() => {
  for (const link of results.querySelectorAll('a[href]')) {
    link.dataset.href = link.href;
    link.removeAttribute('href');
    link.removeAttribute('tabindex');
    addExcerpt(link);
  }
}).observe(results, { childList: true });

for (const type of ['click', 'auxclick'])
  results.addEventListener(type, (event) => {
    const address = event.target.closest('a')?.dataset.href;
    if (address === undefined || event.button > 1) return;
    if (event.button === 1 || event.ctrlKey || event.metaKey) window.open(address);
    else location.assign(address);
  });
