/** @jest-environment-options {"globalsCleanup":"off"} */
// the page is a global, which Jest would delete while React still uses it
import { describeHooks } from './describeHooks.js';
import { loadReact } from './loadReact.js';

describeHooks('18', () => loadReact('react18', 'react-dom18'));
