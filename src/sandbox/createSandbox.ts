import { EmbeddedSandbox } from './EmbeddedSandbox.js';
import type { Sandbox } from './Sandbox.js';
import type { CreateSandboxOptions } from './SandboxOptions.js';

/**
 * Creates an embedded participant without a server, for tests. It is the same participant as that of `startSandbox`, and is
 * reached by its `port` instead of a connection. With a scheduler, its time is virtual: so a marble test runs against the
 * behavior of a real ledger, with its outages, in no time. `restart` and `close` act immediately; only their Promises come
 * later. For Node.js, because it signs and hashes.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { createSandbox } from 'canton-rx/sandbox';
 * import { TestScheduler } from 'rxjs/testing';
 *
 * const scheduler = new TestScheduler((actual, expected) => console.log(actual, expected));
 * scheduler.run(({ expectObservable }) => {
 *   const sandbox = createSandbox({ scheduler });
 *   sandbox.generate(100);
 *   const ledger = createLedger({ baseUrl: sandbox.url, port: sandbox.port });
 *   expectObservable(ledger.ledgerEnd()).toBe('(a|)', { a: sandbox.ledgerEnd });
 * });
 * ```
 * @category Sandbox
 */
export const createSandbox = (options: CreateSandboxOptions = {}): Sandbox => new EmbeddedSandbox(options);
