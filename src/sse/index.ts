/**
 * Each user their own contracts, through your server: it sends the changes of a live view as server-sent events, and a page
 * shows them as a live view again. Needs no other package than `canton-rx`, and runs in browsers, in Node.js, Bun and Deno, and
 * in workers.
 *
 * @example
 * ```ts
 * import { remoteContracts } from 'canton-rx/sse';
 * import { take } from 'rxjs';
 *
 * remoteContracts('https://app.example/contracts')
 *   .count$()
 *   .pipe(take(1))
 *   .subscribe((count) => console.log(`${count} contracts`));
 * ```
 *
 * @module canton-rx/sse
 */

// The server
export { serverSentEventsHeaders, serverSentEventsResponse, toServerSentEvents } from './toServerSentEvents.js';
export type { ServerSentEventsOptions } from './toServerSentEvents.js';

// The page
export { remoteContracts, type RemoteOptions, type RemoteQuery, shareRemoteContracts } from './remoteContracts.js';
export { WireVersionError } from './WireVersionError.js';
