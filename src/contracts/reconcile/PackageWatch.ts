import { catchError, map, type Observable, of } from 'rxjs';
import { isInterfaceType } from '../../codecs/ContractType.js';
import type { CreatedEvent } from '../../codecs/Event.js';
import { list, text } from '../../codecs/internal/field.js';
import { message } from '../../codecs/internal/message.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import { isTransient } from '../../errors/verdict.js';
import type { Page } from '../../feed/Page.js';
import { isUnavailable } from '../../history/participant.js';
import type { Client } from '../../client/Client.js';
import { monotonicNow } from '../../http/clock.js';
import { decodeWith, exchange } from '../../client/exchange.js';
import type { ContractQuery } from '../ContractQuery.js';

/** How often the list of packages is read while nothing hints at an upload, in milliseconds. */
const lookEveryMs = 5 * 60_000;

/** How soon the list is read again after a failure, in milliseconds. */
const retryAfterMs = 30_000;

/** How long the list may take, in milliseconds: the first snapshot waits for it. */
const timeoutMs = 5_000;

const path = '/v2/packages';

const decodePackages = decodeWith(
  path,
  message<{ readonly packageIds: readonly string[] }>('Packages', { packageIds: list(text) }),
);

/**
 * Watches for packages that are uploaded while contracts are followed.
 *
 * Only a query by interface needs it: a participant fixes the list of the templates that implement an interface at the
 * start of a snapshot, and a feed does not show contracts from before the upload of a package that makes their template
 * implement the interface. A template, by package name or ID, selects the same contracts before and after an upload, and
 * so does a right: rights decide which parties may be requested, and not what is sent for them.
 *
 * The list of packages is read before the first snapshot, after an outage, if an event has a package that is not in it,
 * and every five minutes. If the participant does not serve it, or not to this user, only the packages of events count.
 */
export class PackageWatch {
  readonly #client: Client;
  readonly #isNeeded: boolean;
  /** The list as it was read last. */
  #known: ReadonlySet<string> | undefined;
  /** The packages of contracts and events. */
  readonly #seen = new Set<string>();
  #isServed = true;
  #hasAnswered = false;
  #isHinted = false;
  #lookAt = 0;
  /** The number of outages before the last page: a connection that was lost may be replaced without a delay. */
  #outages = 0;

  constructor(client: Client, { types = {} }: ContractQuery) {
    this.#client = client;
    this.#isNeeded = Object.values(types).some(isInterfaceType);
  }

  /** Whether to look for new packages now. */
  get isDue(): boolean {
    if (!this.#isNeeded) return false;
    return this.#isHinted || (this.#isServed && monotonicNow() >= this.#lookAt);
  }

  /** Records an outage: while it lasted, the participant may have been upgraded. */
  interrupted(): void {
    if (this.#isServed) this.#lookAt = Math.min(this.#lookAt, monotonicNow());
  }

  /** Records the packages of contracts that the participant had in a snapshot. */
  loaded(contracts: Iterable<{ readonly createdEvent: CreatedEvent }>): void {
    if (!this.#isNeeded) return;
    for (const { createdEvent } of contracts) for (const id of packagesOf(createdEvent)) this.#seen.add(id);
  }

  /** Records the packages of the events of a page. One that was not seen before is a hint of an upload. */
  received(page: Page | undefined): void {
    if (!this.#isNeeded || page === undefined) return;
    const { updates, outages = this.#outages } = page;
    if (outages !== this.#outages) this.interrupted();
    this.#outages = outages;
    for (const update of updates)
      for (const event of 'events' in update ? update.events : [])
        for (const id of packagesOf('createdEvent' in event ? event.createdEvent : event)) {
          this.#isHinted ||= !this.#seen.has(id) && this.#known?.has(id) !== true;
          this.#seen.add(id);
        }
  }

  /** Reads the list before a snapshot, so that later lists can be compared with it. Never fails. */
  begin(): Observable<unknown> {
    return this.#isNeeded && this.#isServed ? this.look() : of(false);
  }

  /** Emits whether there may be a package that was not there at the last time. Never fails. */
  look(): Observable<boolean> {
    const isHinted = this.#isHinted;
    this.#isHinted = false;
    // without the list, the event itself is all that shows the upload
    if (!this.#isServed) return of(isHinted);
    return exchange(this.#client, { method: 'GET', path, timeoutMs }, decodePackages).pipe(
      map(({ packageIds }) => {
        this.#hasAnswered = true;
        this.#lookAt = monotonicNow() + lookEveryMs;
        const known = this.#known;
        this.#known = new Set(packageIds);
        return known === undefined || packageIds.some((id) => !known.has(id));
      }),
      catchError((error: unknown) => {
        // a gateway that has let it through before may refuse it during an outage
        const isRefused = isLedgerError(error) && (isUnavailable(error) || !isTransient(error));
        this.#isServed = this.#hasAnswered || !isRefused;
        this.#lookAt = monotonicNow() + retryAfterMs;
        return of(isHinted);
      }),
    );
  }
}

/** Returns the packages of an event: that of its template, and that by which the participant renders it. */
function* packagesOf(event: object): Generator<string, void> {
  const { templateId, representativePackageId } = event as Partial<CreatedEvent>;
  if (typeof templateId === 'string') yield templateId.slice(0, templateId.indexOf(':'));
  if (typeof representativePackageId === 'string') yield representativePackageId;
}
