/**
 * Runs processors, rules and outboxes as a service of Node.js, with probes, status, metrics, and a stop that loses
 * nothing. Needs no other package than `canton-rx`.
 *
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { memoryStore, processFeed, updatesFeed } from 'canton-rx/process';
 * import { runService } from 'canton-rx/service';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * const log = processFeed(feed, (update) => console.log(update.offset), { name: 'log', store: memoryStore() });
 * runService({ ledger, processors: [log] }, { signal: AbortSignal.timeout(1_000) }).subscribe();
 * ```
 *
 * @module canton-rx/service
 */

export { runService, type ServiceOptions, type ServiceParts } from './runService.js';
export type { PartFailure, ServiceError, ServicePart } from './runParts.js';
export type { PartStatus, ServiceStatus, WorkStatus } from './ServiceStatus.js';
