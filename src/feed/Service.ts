import { asyncScheduler, type Observable, Subject } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Diagnostic, Report } from '../diagnostics/Diagnostic.js';
import type { EndpointSwitched, PageLimitLearned } from '../diagnostics/FeedDiagnostic.js';
import type { Link } from '../http/Link.js';

/** The paths that serve updates: that of the interface document, and the one that replaces it in 3.6. */
export type UpdatesPath = '/v2/updates/flats' | '/v2/updates';

/** The shortest wait that a poll is reduced to, in milliseconds: shorter polls would be too many. */
export const minPollMs = 1_000;

/** How long the ledger end is not requested after it was unavailable, in milliseconds. */
const ledgerEndRetryMs = 60_000;

/** The state of a service, as the feeds of a ledger have learned it. Each field is described at its getter. */
interface Learned {
  updatesPath: UpdatesPath;
  readonly maySwitchPath: boolean;
  pageLimit: number;
  maxPollMs: number;
  maxRange: number;
  ledgerEndUnavailableAt: number;
  feeds: number;
}

/**
 * A ledger service: the link to it, and everything that feeds learn about it from its answers, which is kept for the lifetime
 * of the ledger and shared by all of its feeds. A method that has something to report returns it.
 */
export class Service {
  readonly link: Link;
  #diagnostics = new Subject<Diagnostic>();
  #onDiagnostic: ((diagnostic: Diagnostic) => void) | undefined;
  #learned: Learned;

  constructor(link: Omit<Link, 'report'>, updatesPath: UpdatesPath | 'auto' = 'auto') {
    this.link = { ...link, report: this.#reportFor() };
    this.#learned = {
      updatesPath: updatesPath === 'auto' ? '/v2/updates/flats' : updatesPath,
      maySwitchPath: updatesPath === 'auto',
      pageLimit: Infinity,
      maxPollMs: Infinity,
      maxRange: Infinity,
      ledgerEndUnavailableAt: -Infinity,
      feeds: 0,
    };
  }

  /**
   * The same service over another link. Both learn from the answers of either, and report to the same subscribers.
   *
   * @param onDiagnostic - is called first with the diagnostics of the other link
   */
  withLink(link: Omit<Link, 'report'>, onDiagnostic: (diagnostic: Diagnostic) => void): Service {
    const service = new Service(link);
    service.#learned = this.#learned;
    service.#diagnostics = this.#diagnostics;
    service.#onDiagnostic = onDiagnostic;
    return service;
  }

  /** The diagnostics of the link, the feeds and the submissions of this service. */
  get diagnostics$(): Observable<Diagnostic> {
    return this.#diagnostics.asObservable();
  }

  /** The number of a new feed. */
  newFeed(): number {
    return (this.#learned.feeds += 1);
  }

  /** The function with which a feed reports. */
  reportForFeed(feed: number): Report {
    return this.#reportFor(feed);
  }

  /** Numbers a new feed, and returns the function with which it reports. */
  reportForNewFeed(): Report {
    return this.#reportFor(this.newFeed());
  }

  /** Creates the report function of a feed, or of the service itself. Without a subscriber, it creates no diagnostic. */
  #reportFor(feed?: number): Report {
    return (body) => {
      if (!this.#diagnostics.observed && this.#onDiagnostic === undefined) return;
      const diagnostic = { ...body(), at: asyncScheduler.now(), ...(feed !== undefined && { feed }) };
      this.#onDiagnostic?.(diagnostic);
      this.#diagnostics.next(diagnostic);
    };
  }

  /** An object that is the same over every link, for what a transport keeps of a service. */
  get identity(): object {
    return this.#learned;
  }

  /** The path that serves updates. */
  get updatesPath(): UpdatesPath {
    return this.#learned.updatesPath;
  }

  /** A path does not serve updates. Where it may be replaced, `updatesPath` differs from it from now on. */
  pathMissing(path: UpdatesPath): EndpointSwitched | undefined {
    const { updatesPath, maySwitchPath } = this.#learned;
    if (!maySwitchPath || path !== '/v2/updates/flats' || path !== updatesPath) return undefined;
    const to = '/v2/updates';
    this.#learned.updatesPath = to;
    return { _tag: 'EndpointSwitched', from: path, to };
  }

  /** The maximum number of elements in a page; `Infinity` until the service has refused a page. */
  get pageLimit(): number {
    return this.#learned.pageLimit;
  }

  /** A page of `limit` elements was too large: later ones have at most half. Of several sent at once, the smallest counts. */
  pageTooLarge(limit: number): PageLimitLearned | undefined {
    const pageLimit = Math.max(1, Math.floor(limit / 2));
    if (pageLimit >= this.pageLimit) return undefined;
    this.#learned.pageLimit = pageLimit;
    return { _tag: 'PageLimitLearned', pageLimit };
  }

  /** The longest idle timeout of a poll, in milliseconds; `Infinity` until a poll has timed out. */
  get maxPollMs(): number {
    return this.#learned.maxPollMs;
  }

  /** A poll was answered in time: later ones may be a little longer. */
  pollAnswered(): void {
    this.#learned.maxPollMs *= 1.1;
  }

  /** The service, or a proxy before it, ended a poll after `tookMs`: later ones wait half as long. */
  pollTimedOut(tookMs: number): void {
    this.#learned.maxPollMs = Math.max(minPollMs, Math.floor(tookMs / 2));
  }

  /** The maximum number of offsets that one page may span: a service may be unable to search more in time. */
  get maxRange(): number {
    return this.#learned.maxRange;
  }

  /** A page was answered in time: later ones may span twice as much. */
  rangeAnswered(): void {
    this.#learned.maxRange *= 2;
  }

  /** A page of a range timed out, but the service is known to search `reach` offsets in time. */
  rangeReached(reach: Offset): void {
    this.#learned.maxRange = Math.max(this.maxRange, reach);
  }

  /** A page over `reach` offsets timed out: later ones span a quarter of that. */
  rangeTimedOut(reach: Offset): void {
    this.#learned.maxRange = Math.max(1, Math.floor(reach / 4));
  }

  /** Whether to request the ledger end. It is requested again some time after it was unavailable, or if the clock is set. */
  get hasLedgerEnd(): boolean {
    return Math.abs(asyncScheduler.now() - this.#learned.ledgerEndUnavailableAt) >= ledgerEndRetryMs;
  }

  /** The service answered with its ledger end. */
  ledgerEndAnswered(): void {
    this.#learned.ledgerEndUnavailableAt = -Infinity;
  }

  /** The service, or a gateway before it, does not serve the ledger end. That may be temporary. */
  ledgerEndUnavailable(): void {
    this.#learned.ledgerEndUnavailableAt = asyncScheduler.now();
  }
}
