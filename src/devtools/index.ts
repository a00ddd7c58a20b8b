/**
 * A panel for a page that shows what a ledger client does: feeds, views, submissions and errors. Load it on demand, by `import()`.
 *
 * @module canton-rx/devtools
 */

export { devtoolsPanel } from './devtoolsPanel.js';
