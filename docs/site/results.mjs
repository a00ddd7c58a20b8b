// A result of the search is one control, not a link in an option.
const results = document.getElementById('tsd-search-results');

new MutationObserver(() => {
  for (const link of results.querySelectorAll('a[href]')) {
    link.dataset.href = link.href;
    link.removeAttribute('href');
    link.removeAttribute('tabindex');
  }
}).observe(results, { childList: true });

for (const type of ['click', 'auxclick'])
  results.addEventListener(type, (event) => {
    const address = event.target.closest('a')?.dataset.href;
    if (address === undefined || event.button > 1) return;
    if (event.button === 1 || event.ctrlKey || event.metaKey) window.open(address);
    else location.assign(address);
  });
