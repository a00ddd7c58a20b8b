import { asyncScheduler, map, type Observable, of, Subject } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Diagnostic, DiagnosticBody, DiagnosticOf, Report, WorkName } from '../diagnostics/Diagnostic.js';
import { BodySizes } from '../http/BodySizes.js';
import { type Link, locate } from '../http/Link.js';
import { PageLimit } from './PageLimit.js';

/** The paths that serve updates: the documented one, and the one that replaces it in 3.6. */
type UpdatesPath = '/v2/updates/flats' | '/v2/updates';

/** The paths that serve completions: the deprecated one, and the one that replaces it since 3.5.7. */
type CompletionsPath = '/v2/commands/completions' | '/v2/commands/command-completions';

/** A path that serves the elements of a feed. */
export type FeedPath = UpdatesPath | CompletionsPath;

/** The minimum to which the wait of a poll is reduced, in milliseconds: shorter polls would be too frequent. */
export const minPollMs = 1_000;

/** The maximum idle timeout of a request for all that the participant has, in milliseconds: its own default. */
const maxDrainMs = 500;

/** How long to wait before requesting the ledger end again if it was unavailable, in milliseconds. */
const ledgerEndRetryMs = 60_000;

/**
 * A participant: the link to it, and everything that feeds learn about it from its responses. All feeds of a ledger
 * share this for the lifetime of the ledger.
 */
export class Service {
  readonly link: Link;
  /** The same object over every link, and so the key for what others learn. */
  readonly learned: Learned;
  #diagnostics = new Subject<Diagnostic>();
  #onDiagnostic: ((diagnostic: Diagnostic) => void) | undefined;
  #success = new Subject<void>();
  /** This service at each of its addresses. */
  readonly #located = new Map<string, Service>();

  constructor(link: Omit<Link, 'report'>, learned: Learned | UpdatesPath | 'auto' = 'auto') {
    this.learned = typeof learned === 'string' ? new Learned(learned) : learned;
    this.link = {
      ...link,
      report: this.reportFor(),
      onSuccess: (path) => {
        this.learned.answered(path);
        this.#success.next();
      },
      onRefusal: (path) => {
        this.learned.answered(path);
      },
      hasAnswered: (path) => this.learned.hasAnswered(path),
    };
  }

  /**
   * Returns the same service over another link. Both learn from each other's responses and report to the same
   * subscribers.
   *
   * @param onDiagnostic - receives the diagnostics of the other link before the subscribers
   */
  withLink(link: Omit<Link, 'report'>, onDiagnostic = this.#onDiagnostic): Service {
    const service = new Service(link, this.learned);
    service.#diagnostics = this.#diagnostics;
    service.#success = this.#success;
    service.#onDiagnostic = onDiagnostic;
    return service;
  }

  /**
   * Emits this service at the address of the next request, where its requests stay. It is the same object for the same
   * address.
   */
  located(path: string): Observable<Service> {
    if (this.link.addresses === undefined) return of(this);
    return locate(this.link, path).pipe(
      map((link) => {
        const service = this.#located.get(link.baseUrl) ?? this.withLink(link);
        this.#located.set(link.baseUrl, service);
        return service;
      }),
    );
  }

  /** The diagnostics of the link, the feeds and the submissions of this service. */
  get diagnostics$(): Observable<Diagnostic> {
    return this.#diagnostics.asObservable();
  }

  /** Whether there is a subscriber to the diagnostics. */
  get isObserved(): boolean {
    return this.#diagnostics.observed;
  }

  /** Emits after each request of this service that succeeds. */
  get success$(): Observable<void> {
    return this.#success.asObservable();
  }

  /**
   * Returns the report function of a feed, which may be that of a processor with a name, or of the service itself. It
   * creates a diagnostic only if there is a subscriber.
   */
  reportFor(feed?: number, processor?: string): Report {
    const from = { ...(feed !== undefined && { feed }), ...(processor !== undefined && { processor }) };
    return (body) => {
      if (!this.#diagnostics.observed && this.#onDiagnostic === undefined) return;
      const diagnostic = { ...body(), at: asyncScheduler.now(), ...from };
      this.#onDiagnostic?.(diagnostic);
      this.#diagnostics.next(diagnostic);
    };
  }

  /** Numbers a new feed and returns its report function. */
  reportForNewFeed(processor?: string): Report {
    return this.reportFor(this.learned.newFeed(), processor);
  }
}

/** Returns the report function of a rule or of an outbox: each diagnostic names it. */
export const reportOf =
  (report: Report, name: WorkName | undefined): Report =>
  (body) => {
    report(() => ({ ...body(), ...name }));
  };

/** Returns the report function of one of several feeds that are reported as one: without some diagnostics. */
export const reportWithout =
  (report: Report, ...tags: readonly DiagnosticBody['_tag'][]): Report =>
  (body) => {
    const diagnostic = body();
    if (!tags.includes(diagnostic._tag)) report(() => diagnostic);
  };

/** What the feeds of a ledger have learned about a participant. A method that has something to report returns it. */
class Learned {
  /** The sizes of submissions. */
  readonly bodySizes = new BodySizes();
  /** The rules and outboxes whose commands are being submitted, by command id, for diagnostics. */
  readonly submitters = new Map<string, WorkName>();
  #updatesPath: UpdatesPath;
  readonly #maySwitchPath: boolean;
  #completionsPath: CompletionsPath = '/v2/commands/completions';
  readonly #pageLimit = new PageLimit();
  #maxPollMs = Infinity;
  #drainMs = 25;
  #maxRange = Infinity;
  #ledgerEndUnavailableAt = -Infinity;
  readonly #answeredPaths = new Set<string>();
  #feeds = 0;

  constructor(updatesPath: UpdatesPath | 'auto') {
    this.#updatesPath = updatesPath === 'auto' ? '/v2/updates/flats' : updatesPath;
    this.#maySwitchPath = updatesPath === 'auto';
  }

  /** Returns the number of a new feed. */
  newFeed(): number {
    return (this.#feeds += 1);
  }

  /** Whether the participant has answered, also with an error; with a path, whether it has answered there. */
  hasAnswered(path?: string): boolean {
    return path === undefined ? this.#answeredPaths.size > 0 : this.#answeredPaths.has(path);
  }

  /** Records a response of the participant. */
  answered(path: string): void {
    this.#answeredPaths.add(path);
  }

  /** The path that serves updates. */
  get updatesPath(): UpdatesPath {
    return this.#updatesPath;
  }

  /** The path that serves completions. */
  get completionsPath(): CompletionsPath {
    return this.#completionsPath;
  }

  /** Records that a path is not served. If the path may be switched, `updatesPath` or `completionsPath` changes. */
  pathMissing(path: FeedPath): DiagnosticOf<'EndpointSwitched'> | undefined {
    if (path === '/v2/commands/completions' && path === this.#completionsPath) {
      const to = '/v2/commands/command-completions';
      this.#completionsPath = to;
      return { _tag: 'EndpointSwitched', from: path, to };
    }
    if (!this.#maySwitchPath || path !== '/v2/updates/flats' || path !== this.#updatesPath) return undefined;
    const to = '/v2/updates';
    this.#updatesPath = to;
    return { _tag: 'EndpointSwitched', from: path, to };
  }

  /** The maximum number of elements in a page; `Infinity` until the participant has refused a page. */
  get pageLimit(): number {
    return this.#pageLimit.proven;
  }

  /** The same, or twice as many if it is time to try that. */
  get nextPageLimit(): number {
    return this.#pageLimit.next;
  }

  /** Returns the limit for a request of at most `wanted` elements. One of several requests may try more than the others. */
  takePageLimit(wanted: number): number {
    return this.#pageLimit.take(wanted);
  }

  /** Records that a page of `count` elements arrived: if it was a try, later pages may be as large. */
  pageArrived(limit: number, count: number): DiagnosticOf<'PageLimitLearned'> | undefined {
    return this.#pageLimit.arrived(limit, count) ? this.#pageLimitLearned() : undefined;
  }

  /** Records that a page of `limit` elements was too large: later pages have at most half, until they grow again. */
  pageTooLarge(limit: number): DiagnosticOf<'PageLimitLearned'> | undefined {
    return this.#pageLimit.refused(limit) ? this.#pageLimitLearned() : undefined;
  }

  #pageLimitLearned(): DiagnosticOf<'PageLimitLearned'> {
    return { _tag: 'PageLimitLearned', pageLimit: this.pageLimit };
  }

  /** The longest idle timeout of a poll, in milliseconds; `Infinity` until a poll has timed out. */
  get maxPollMs(): number {
    return this.#maxPollMs;
  }

  /** Records that a poll got a response in time: later polls may wait a little longer. */
  pollAnswered(): void {
    this.#maxPollMs *= 1.1;
  }

  /** Records that the participant or a proxy ended a poll after `tookMs`: later polls wait half as long. */
  pollTimedOut(tookMs: number): void {
    this.#maxPollMs = Math.max(minPollMs, Math.floor(tookMs / 2));
  }

  /**
   * The idle timeout of a request for all that the participant has, in milliseconds: how long it may need for the first
   * element. It is so short that even a full page of a slow ledger arrives before the request times out.
   */
  get drainMs(): number {
    return this.#drainMs;
  }

  /** Records that the participant had an element, and did not send it in time: later requests wait twice as long. */
  drainTooShort(): void {
    this.#drainMs = Math.min(maxDrainMs, 2 * this.drainMs);
  }

  /** The maximum number of offsets that a page may span: a participant may be unable to search more in time. */
  get maxRange(): number {
    return this.#maxRange;
  }

  /** Records that a page arrived in time: later pages may span twice as many offsets. */
  rangeAnswered(): void {
    this.#maxRange *= 2;
  }

  /** Records that a page timed out, although the participant can search `reach` offsets in time. */
  rangeReached(reach: Offset): void {
    this.#maxRange = Math.max(this.maxRange, reach);
  }

  /** Records that a page over `reach` offsets timed out: later pages span a quarter of that. One offset is not too many. */
  rangeTimedOut(reach: Offset): void {
    if (reach > 1) this.#maxRange = Math.max(1, Math.floor(reach / 4));
  }

  /**
   * Whether to request the ledger end. After it was unavailable, this is false for a while, unless the clock is
   * changed.
   */
  get hasLedgerEnd(): boolean {
    return Math.abs(asyncScheduler.now() - this.#ledgerEndUnavailableAt) >= ledgerEndRetryMs;
  }

  /** Records that the participant returned its ledger end. */
  ledgerEndAnswered(): void {
    this.#ledgerEndUnavailableAt = -Infinity;
  }

  /** Records that the participant, or a gateway, does not serve the ledger end. That may be temporary. */
  ledgerEndUnavailable(): void {
    this.#ledgerEndUnavailableAt = asyncScheduler.now();
  }
}
