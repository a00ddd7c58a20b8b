import { ofEveryRuntime, tryAll, type World } from './capabilities.js';

/** Shows what works in a browser. The ledger is in the hash of the page's address. */
const world = JSON.parse(decodeURIComponent(location.hash.slice(1))) as World;
Object.assign(globalThis, { seen: await tryAll(ofEveryRuntime(world)) });
