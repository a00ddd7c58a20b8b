/**
 * Each user their own contracts, through your server: it sends the changes of a live view as server-sent events, and a page
 * shows them as a live view again. Needs no other package than `canton-rx`, and runs in browsers, in Node.js, Bun and Deno, and
 * in workers.
 *
 * @example
 * ```ts
 * import { remoteContracts } from 'canton-rx/sse';
 *
 * const counting = remoteContracts('https://app.example/contracts')
 *   .count$()
 *   .subscribe((count) => console.log(`${count} contracts`));
 * counting.unsubscribe();
 * ```
 *
 * @module canton-rx/sse
 */

// The server
export { serverSentEventsHeaders, serverSentEventsResponse, toServerSentEvents } from './toServerSentEvents.js';
export type { ServerSentEventsOptions } from './toServerSentEvents.js';

// The page
export { remoteContracts, type RemoteOptions, type RemoteQuery, shareRemoteContracts } from './remoteContracts.js';
export { WireVersionError } from './ReceivedContracts.js';
