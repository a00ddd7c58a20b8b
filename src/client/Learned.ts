import { asyncScheduler } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import type { Submitter } from './Interceptor.js';

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
  /** How many elements a page may have. */
  readonly pages = new PageLimit();
  #updatesPath: UpdatesPath;
  readonly #maySwitchPath: boolean;
  #completionsPath: CompletionsPath = '/v2/commands/completions';
  #maxPollMs = Infinity;
  #drainMs = 25;
  #maxRange = Infinity;
  #ledgerEndUnavailableAt = -Infinity;
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

/** After how many pages without a refusal a larger one is tried, at least and at most. */
const minPatience = 4;
const maxPatience = 128;

/**
 * The maximum number of elements in a page: how many elements the participant and the client can take at once, which depends
 * on how large the elements are.
 *
 * A refusal halves it. It doubles again once pages of this limit have arrived without a refusal, for the large elements may
 * be over: one request tries twice as many, while the others keep to the limit. Each refusal of what has grown doubles the
 * number of pages before the next try, so that a ledger of large elements gets few refused requests; growing twice in a row
 * halves it.
 */
class PageLimit {
  #limit = Infinity;
  /** The limit of the request that tries more; `undefined` if there is none. */
  #tried: number | undefined;
  /** How many pages have arrived since the last try or refusal. */
  #pages = 0;
  #patience = minPatience;
  /** Whether the limit has grown since the last refusal. */
  #hasGrown = false;

  /** The limit that is proven; `Infinity` until a page was refused. */
  get proven(): number {
    return this.#limit;
  }

  /** The limit that a request of as many elements as possible would have now. */
  get next(): number {
    return this.#pages < this.#patience ? this.#limit : 2 * this.#limit;
  }

  /** Returns the limit for a request of at most `wanted` elements. If it is a try, the next request is none. */
  take(wanted: number): number {
    const limit = Math.min(wanted, this.next);
    if (limit > this.#limit) {
      this.#tried = limit;
      this.#pages = 0;
    }
    return limit;
  }

  /** Records a page of `count` elements. Returns what to report if the limit has grown: a try with less proves nothing. */
  arrived(limit: number, count: number): DiagnosticOf<'PageLimitLearned'> | undefined {
    if (limit !== this.#tried || count <= this.#limit) {
      // a page that is nearly empty does not show that a full one would have arrived
      if (4 * count >= this.#limit) this.#pages += 1;
      return undefined;
    }
    this.#limit = limit;
    this.#tried = undefined;
    this.#pages = 0;
    if (this.#hasGrown) this.#patience = Math.max(minPatience, this.#patience / 2);
    this.#hasGrown = true;
    return { _tag: 'PageLimitLearned', pageLimit: limit };
  }

  /** Records that a page of `limit` elements was refused. Returns what to report if the limit has shrunk: the smallest refusal counts. */
  refused(limit: number): DiagnosticOf<'PageLimitLearned'> | undefined {
    if (this.#hasGrown || limit === this.#tried) this.#patience = Math.min(maxPatience, 2 * this.#patience);
    this.#hasGrown = false;
    this.#tried = undefined;
    this.#pages = 0;
    const smaller = Math.max(1, Math.floor(limit / 2));
    if (smaller >= this.#limit) return undefined;
    this.#limit = smaller;
    return { _tag: 'PageLimitLearned', pageLimit: smaller };
  }
}
