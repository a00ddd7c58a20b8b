import { asyncScheduler } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import { BodySizes } from './BodySizes.js';
import type { Submitter } from './Interceptor.js';
import { PageLimit } from './PageLimit.js';

/** The paths that serve updates: the documented one, and the one that replaces it in 3.6. */
export type UpdatesPath = '/v2/updates/flats' | '/v2/updates';

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
 * The limits, the paths and the answers of a participant that its client has seen. Limits are forgotten again. A method that
 * has something to report returns it.
 */
export class Learned {
  /** The rules and outboxes whose commands are being submitted, by command id. */
  readonly submitters = new Map<string, Submitter>();
  #updatesPath: UpdatesPath;
  readonly #maySwitchPath: boolean;
  #completionsPath: CompletionsPath = '/v2/commands/completions';
  readonly #pageLimit = new PageLimit();
  #maxPollMs = Infinity;
  #drainMs = 25;
  #maxRange = Infinity;
  #ledgerEndUnavailableAt = -Infinity;
  readonly #bodySizes = new Map<string | undefined, BodySizes>();
  readonly #answeredPaths = new RecentPaths();
  readonly #others = new Map<new () => object, object>();
  #feeds = 0;

  constructor(updatesPath: UpdatesPath | 'auto') {
    this.#updatesPath = updatesPath === 'auto' ? '/v2/updates/flats' : updatesPath;
    this.#maySwitchPath = updatesPath === 'auto';
  }

  /** Returns what another room has learned of the participant, of which programs without that room load nothing. */
  of<A extends object>(kind: new () => A): A {
    const known = (this.#others.get(kind) as A | undefined) ?? new kind();
    this.#others.set(kind, known);
    return known;
  }

  /** Returns the sizes of submissions at an address. Another one may accept others. */
  bodySizesAt(address: string | undefined): BodySizes {
    const sizes = this.#bodySizes.get(address) ?? new BodySizes();
    this.#bodySizes.set(address, sizes);
    return sizes;
  }

  /** Returns the number of a new feed. */
  newFeed(): number {
    return (this.#feeds += 1);
  }

  /** Whether the participant has answered, also with an error; with a path, whether it has answered there. */
  hasAnswered(path?: string): boolean {
    return path === undefined ? !this.#answeredPaths.isEmpty : this.#answeredPaths.has(path);
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

/** The number of paths that are remembered: many more than the API has. */
const maxPaths = 1_000;

/** The paths of the last requests. Some name a user, so that there is no end of them in a service for many users. */
export class RecentPaths {
  /** In the order of their last request. */
  readonly #paths = new Set<string>();

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Adds a path as the last one. */
  add(path: string): void {
    this.#paths.delete(path);
    this.#paths.add(path);
    const [oldest] = this.#paths;
    if (this.#paths.size > maxPaths && oldest !== undefined) this.#paths.delete(oldest);
  }
}
