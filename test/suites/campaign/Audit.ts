import type { Update } from '../../../src/codecs/Update.js';
import { idOf } from '../../../src/history/advance.js';
import type { Reply, ServiceRequest } from '../../helpers/scripted.js';
import type { Entry, VirtualLedger } from '../../helpers/virtualLedger.js';
import {
  badPageOf,
  boundOf,
  forcedEnd,
  type ForcedEnd,
  isBeyondEnd,
  isBounded,
  isDownward,
  isLedgerEnd,
  isLookUp,
  isPage,
} from './requests.js';

/** The feed to check. */
export interface AuditedFeed {
  readonly begin: number;
  readonly bound: number;
  readonly isDownward: boolean;
  /** The most pages that may be requested or held at a time. */
  readonly maxOpen: number;
  /** How many updates have been emitted. */
  readonly emitted: () => number;
  readonly age: () => number;
}

/**
 * The model of a feed. It follows the answers that reach the client: each update that is delivered for the first time must
 * be emitted as soon as all before it have been, in the ledger's order, and nothing else may be. Updates of the ledger that
 * an answer skips must be emitted, too.
 *
 * An answer ahead of its turn is held until the cursor gets there. An error ahead of its turn has no effect, since the feed
 * repeats the request in its turn; a bad page ahead of its turn ends the feed in its turn.
 */
export class Audit {
  readonly expected: Update[] = [];
  /** When there were new updates, in milliseconds. */
  readonly newsAt: number[] = [];
  /** When the cursor advanced, in milliseconds, once for each answer that it passed. */
  readonly advancedAt: number[] = [];
  /** What no feed may do. */
  readonly violations: string[] = [];
  /** The cursor of a feed that has processed all that was delivered. */
  cursor: number;
  end: (ForcedEnd & { readonly atMs: number }) | undefined;
  /** The cursors since the last answer, and how much was to be emitted by then. */
  private passed: readonly { readonly cursor: number; readonly count: number }[] = [];
  private held: readonly Cover[] = [];
  /** The covers that the cursor has passed. */
  private taken: readonly Cover[] = [];
  private shortPages: readonly ShortPage[] = [];
  private readonly open = new Set<ServiceRequest>();
  /** The open request that reads a range again, and what was delivered of the range before. */
  private repetition: { readonly request: ServiceRequest; readonly covers: readonly Cover[] } | undefined;
  /** After an outage, a feed proves that the ledger is the same before it emits what was delivered. */
  private isProving = false;
  /** Whether a proof was requested and has not succeeded yet. */
  private isProofOpen = false;
  /** Whether a proof was ever requested, or an answer was a reason to request one. */
  private hasProven = false;
  private isOver = false;

  constructor(
    private readonly ledger: VirtualLedger,
    private readonly updateOf: (entry: Entry) => Update | undefined,
    private readonly feed: AuditedFeed,
  ) {
    this.cursor = feed.isDownward ? feed.bound + 1 : feed.begin;
  }

  /** Another ledger takes the place of this one: nothing that follows is audited. */
  stop(): void {
    this.settle();
    this.isOver = true;
  }

  /** A request has arrived at the service. */
  requestSent(request: ServiceRequest): void {
    if (this.isOver) return;
    if (this.isRepetition(request)) this.readAgain(request);
    if (isLedgerEnd(request)) {
      // the token was for this request, and not for the rest of a page
      for (const page of this.shortPages) if (page.state === 'token') page.state = 'open';
      this.settle();
    }
    // without an update that has an ID, the end of the ledger is the proof
    if (isLedgerEnd(request) && this.feed.emitted() < this.expected.length) this.proofRequested();
    if (this.isProof(request)) {
      this.proofRequested();
      return;
    }
    const { maxOpen } = this.feed;
    const completed = this.shortPages.find((page) => this.isRestOf(request, page));
    if (completed !== undefined) completed.state = request;
    this.settle();
    // a feed that reads one page after the other has emitted all of the page before
    if (maxOpen === 1) this.check();
    this.open.add(request);
    if (this.open.size > maxOpen) this.violations.push(`${this.open.size} requests at a time`);
    const rests = this.shortPages.filter(({ state }) => typeof state === 'object').length;
    const pages = [...this.open].filter(isPage).length - rests + this.shortPages.length;
    const held = this.held.filter(({ isRest }) => isRest !== true).length;
    // while a page waits for its proof, the model has already passed it
    if (pages + held > maxOpen && !this.hasProven)
      this.violations.push(`${pages} pages are requested and ${held} held`);
  }

  /** The feed requests a token; the returned function must be called when the provider is done. */
  tokenRequested(isProviderDown: boolean): () => void {
    const { emitted } = this.feed;
    const waiting = this.shortPages.find(
      ({ state, since, isAlone }) => state === 'open' && since.emitted === emitted() && isAlone !== true,
    );
    if (waiting === undefined) {
      if (!isProviderDown) return () => undefined;
      this.settle();
      // the token is for a proof, which does not arrive
      if (emitted() < this.expected.length) this.proofRequested();
      return () => undefined;
    }
    waiting.state = 'token';
    return () => {
      if (waiting.state !== 'token') return;
      this.reopen(waiting);
      waiting.isAlone = true;
    };
  }

  /** An answer has reached the client. */
  delivered(request: ServiceRequest, reply: Reply): void {
    if (this.isOver) return;
    if (this.isProof(request)) {
      this.proofDelivered(request, reply);
      return;
    }
    this.settle();
    this.check();
    if (!this.isProving) this.passed = [];
    this.open.delete(request);
    const forced = this.forcedEndOf(request, reply);
    const cover = this.coverOf(request, reply, forced);
    if (cover !== undefined && request === this.repetition?.request) this.repetition = undefined;
    // a failure raises doubt: what is delivered, and what was before it, may wait for a proof
    if (reply instanceof Error || reply.status >= 400) this.hasProven = true;
    const completed = this.shortPages.find(({ state }) => state === request);
    if (!isPage(request) || isDownward(request)) {
      this.descend(reply);
      if (forced !== undefined) this.mustEnd(forced);
    } else if (completed !== undefined) {
      if (cover === undefined) this.reopen(completed);
      else this.take(completed, this.feed.age(), { ...cover, isRest: true });
    } else if (cover === undefined) {
      // the feed drops the pages ahead of an end that is not reached
      if (isBeyondEnd(reply) && isBounded(request) && this.isInTurn(request)) this.forget();
      if (forced !== undefined) this.mustEnd(forced, request);
    } else if (this.mayRequestRest(request, reply, cover)) {
      const page = { cover, bound: boundOf(request), state: 'open' as const, since: this.now() };
      this.shortPages = [...this.shortPages, page];
    } else {
      this.hold(this.feed.age(), cover);
    }
  }

  /** A request has ended, answered or not. */
  requestClosed(request: ServiceRequest): void {
    // without an answer, it has failed
    if (this.open.delete(request)) this.hasProven = true;
    const page = this.shortPages.find(({ state }) => state === request);
    if (page !== undefined) this.reopen(page);
    if (request !== this.repetition?.request) return;
    const { covers } = this.repetition;
    this.repetition = undefined;
    this.hold(this.feed.age(), ...covers);
  }

  /** The last event has no further effect: a short page whose rest was not requested stands alone. */
  settle(): void {
    if (this.isOver) return;
    for (const page of this.shortPages) if (page.state === 'open') this.take(page, page.since.ms);
    // the feed may emit a short page in its turn before it has its rest
    while (this.feed.emitted() > this.expected.length) {
      const shown = this.shortPages.find(({ cover }) => cover.begin <= this.cursor);
      if (shown === undefined) return;
      this.take(shown, this.feed.age());
    }
  }

  /** The cursors that a feed may report while it processes an answer, among them the reported one if it may be. */
  cursors(reported: number): readonly number[] {
    this.settle();
    const here = { cursor: this.cursor, count: this.expected.length };
    const emitted = this.feed.emitted();
    const exact = [...this.passed, here].filter(({ count }) => count === emitted).map(({ cursor }) => cursor);
    // after an outage, what was delivered ahead may be read again, up to another ledger end
    const isReadAgain = this.hasProven && reported < this.cursor;
    return isReadAgain && reported >= (this.expected[emitted - 1]?.offset ?? 0) ? [...exact, reported] : exact;
  }

  /** Everything that must be emitted has been, and no more. */
  check(): void {
    if (this.isOver) return;
    const emitted = this.feed.emitted();
    // how long what was delivered waits for a proof is not modelled
    if (this.hasProven && emitted < this.expected.length) return;
    this.isProving = this.isProofOpen;
    if (emitted !== this.expected.length && this.violations.length === 0)
      this.violations.push(`${emitted} updates are emitted at ${this.feed.age()}, not ${this.expected.length}`);
  }

  /** The answer to a request forces the feed to end, if it is its turn. */
  mustEnd(forced: ForcedEnd, request?: ServiceRequest): void {
    // a feed continues without the ID of the participant
    if (request?.path.endsWith('/participant-id') === true) return;
    const isOfProof = request !== undefined && this.isProof(request);
    if (isOfProof) this.dropUnproven();
    if (request !== undefined && !this.isInTurn(request)) return;
    const end = { ...forced, atMs: this.feed.age() };
    // a page that must end the feed has no effect if it is not proven
    this.end = isOfProof ? end : (this.end ?? end);
  }

  /** The feed has ended with an error: it may have had no time to prove what was delivered last. */
  failed(): void {
    if (this.hasProven) this.dropUnproven();
  }

  /** The caller has chosen where to continue. */
  jump(offset: number): void {
    this.end = undefined;
    this.repetition = undefined;
    this.forget();
    this.cursor = offset;
  }

  private proofRequested(): void {
    this.isProving = true;
    this.isProofOpen = true;
    this.hasProven = true;
  }

  /** Whether a request is for what was delivered before, or for the ID of the participant. */
  private isProof(request: ServiceRequest): boolean {
    if (request.path.endsWith('/participant-id') || isLookUp(request)) return true;
    if (!isPage(request) || !isBounded(request)) return false;
    const begin = Number(request.body['beginExclusive']);
    if (this.feed.isDownward) return begin >= this.cursor - 1;
    const bound = boundOf(request);
    const ahead = [...this.held.map((cover) => ({ cover, bound: cover.reached })), ...this.shortPages];
    return (
      bound <= this.cursor ||
      // a page that was requested before an outage is looked up, or read again
      ahead.some(
        ({ cover, bound: end }) =>
          cover.begin <= begin && begin < cover.reached && bound <= end && !this.isNext(cover, request),
      )
    );
  }

  /** Whether a request is for what follows a page, beginning with its last update. */
  private isNext({ entries, reached }: Cover, { body }: ServiceRequest): boolean {
    const last = entries.findLast(this.hasId);
    return last !== undefined && body['beginExclusive'] === last.offset - 1 && Number(body['endInclusive']) > reached;
  }

  /** Whether a request repeats one that was answered ahead of its turn, before an outage. */
  private isRepetition(request: ServiceRequest): boolean {
    if (!isPage(request) || !isBounded(request) || this.feed.isDownward) return false;
    const begin = Number(request.body['beginExclusive']);
    if (this.isLookUpInPage(request) || begin < (this.expected[this.feed.emitted() - 1]?.offset ?? 0)) return false;
    // the page after one that begins with the first update of a range
    if (this.delivery.some((cover) => this.isNext(cover, request))) return false;
    return this.delivery.some((cover) => cover.begin === begin && (cover.reached > begin || cover.bad !== undefined));
  }

  /** Whether a request may be for the last update with an ID of a page, and for what the page has after it. */
  private isLookUpInPage({ query, body }: ServiceRequest): boolean {
    const offset = Number(body['beginExclusive']) + 1;
    const covers = this.delivery;
    return (
      Number(query['limit']) <= 2 &&
      covers.some((page) => {
        const rest = covers.find(({ begin, isRest }) => isRest === true && begin === page.reached);
        const entries = [...page.entries, ...(rest?.entries ?? [])];
        const last = entries.findLast(this.hasId);
        return last?.offset === offset && Number(body['endInclusive']) <= (rest ?? page).reached;
      })
    );
  }

  /** What was delivered and may not have been emitted. */
  private get delivery(): readonly Cover[] {
    return [...this.taken, ...this.held, ...this.shortPages.map(({ cover }) => cover)];
  }

  /**
   * What was delivered of a range is dropped, and so is the end that it forced, unless the request fails: then it is
   * looked up again. All other ranges are held.
   */
  private readAgain(request: ServiceRequest): void {
    const begin = Number(request.body['beginExclusive']);
    const bound = boundOf(request);
    this.repetition = { request, covers: this.delivery.filter((cover) => cover.begin >= begin && cover.begin < bound) };
    this.hasProven = true;
    // a page before the range may still be emitted
    const kept = this.expected.findIndex(({ offset }) => offset > begin);
    if (kept >= 0) this.expected.splice(kept);
    this.end = undefined;
    // the rest of a page may be read again before the page is passed
    this.cursor = Math.min(this.cursor, begin);
    const isAfter = (cover: Cover): boolean => cover.begin >= bound;
    // what was delivered before the range, and has not been passed yet, is still held
    const held = this.held.filter((cover) => isAfter(cover) || cover.reached <= begin);
    this.held = [...this.taken.filter(isAfter), ...held].sort((a, b) => a.begin - b.begin);
    this.shortPages = this.shortPages.filter(({ cover }) => cover.begin < begin || cover.begin >= bound);
    this.taken = [];
  }

  /** An answer without the proof is not the end, but an error may be. */
  private proofDelivered(request: ServiceRequest, reply: Reply): void {
    const forced = forcedEnd(request, reply);
    // an update that is pruned cannot be proven
    this.isProofOpen = forced?.isGap !== true && (reply instanceof Error || reply.status !== 200);
    // what was delivered takes effect only now
    if (this.end !== undefined && !this.isProofOpen) this.end = { ...this.end, atMs: this.feed.age() };
    // offset and ID are the proof, also of an update that does not decode
    const isOfContent = forced?.error['_tag'] === 'DecodeError' && forced.error['offset'] !== undefined;
    if (isPage(request) && forced !== undefined && forced.isGap !== true && !isOfContent) this.mustEnd(forced, request);
  }

  /** What was delivered and not proven is not emitted if the proof fails. */
  private dropUnproven(): void {
    this.expected.splice(this.feed.emitted());
  }

  private readonly hasId = (entry: Entry): boolean => {
    const update = this.updateOf(entry);
    return update !== undefined && idOf(update) !== undefined;
  };

  private isInTurn(request: ServiceRequest): boolean {
    if (!isPage(request) || isDownward(request) || this.feed.maxOpen === 1 || this.isProof(request)) return true;
    return request.body['beginExclusive'] === this.cursor || this.isAfterLast(request);
  }

  /** Whether a request begins with the last update, before the cursor. */
  private isAfterLast({ body }: ServiceRequest): boolean {
    return !this.feed.isDownward && Number(body['beginExclusive']) < this.cursor;
  }

  /** The end that an answer forces. A last update that does not decode is no proof, and needs none. */
  private forcedEndOf(request: ServiceRequest, reply: Reply): ForcedEnd | undefined {
    const forced = forcedEnd(request, reply);
    const { _tag, offset, earliestOffset } = forced?.error ?? {};
    // the last update may be pruned: the feed has read all up to its cursor
    if (_tag === 'PrunedError' && this.isAfterLast(request) && Number(earliestOffset) <= this.cursor) return undefined;
    return _tag === 'DecodeError' && !this.feed.isDownward && Number(offset) <= this.cursor ? undefined : forced;
  }

  private coverOf(request: ServiceRequest, reply: Reply, forced: ForcedEnd | undefined): Cover | undefined {
    const bad = badPageOf(reply);
    const entries = bad?.good ?? this.ledger.entriesOf(reply);
    // an answer that is no list is an error, not a page
    if (entries === undefined || bad?.isNoPage === true) return undefined;
    const begin = Number(request.body['beginExclusive']);
    const last = entries.at(-1)?.offset;
    // an empty page covers its range, as does one that has only the last update; an empty poll covers nothing
    const known = bad === undefined && isBounded(request) ? boundOf(request) : begin;
    const isEmpty = last === undefined || (this.isAfterLast(request) && last <= this.cursor);
    const reached = Math.max(begin, Math.min(isEmpty ? known : last, boundOf(request), this.feed.bound));
    return { begin, reached, entries: this.ledger.between(begin, reached), bad: bad && forced };
  }

  /** Whether the feed may request the rest of a page's range before it emits the page. */
  private mayRequestRest(request: ServiceRequest, reply: Reply, { reached, bad }: Cover): boolean {
    const count = this.ledger.entriesOf(reply)?.length ?? 0;
    const isShort = count > 0 && count < Number(request.query['limit']) && reached < boundOf(request);
    return this.feed.maxOpen > 1 && bad === undefined && isBounded(request) && isShort;
  }

  private isRestOf({ body }: ServiceRequest, { cover, bound, state, since }: ShortPage): boolean {
    if (typeof state === 'object') return false;
    if (state === 'open' && since.emitted !== this.feed.emitted()) return false;
    return body['beginExclusive'] === cover.reached && body['endInclusive'] === bound;
  }

  private now(): ShortPage['since'] {
    return { ms: this.feed.age(), emitted: this.feed.emitted() };
  }

  private reopen(page: ShortPage): void {
    page.state = 'open';
    page.since = this.now();
  }

  private take(page: ShortPage, ms: number, ...rest: readonly Cover[]): void {
    this.shortPages = this.shortPages.filter((other) => other !== page);
    this.hold(ms, page.cover, ...rest);
  }

  private hold(ms: number, ...covers: readonly Cover[]): void {
    this.held = [...this.held, ...covers].sort((a, b) => a.begin - b.begin);
    this.advance(ms);
  }

  private forget(): void {
    this.held = [];
    this.taken = [];
    this.shortPages = [];
  }

  private advance(ms: number): void {
    for (;;) {
      const [next, ...others] = this.held;
      if (next === undefined || next.begin > this.cursor || this.end !== undefined) return;
      this.held = others;
      this.taken = [...this.taken, next];
      this.passed = [...this.passed, { cursor: this.cursor, count: this.expected.length }];
      if (next.reached > this.cursor) this.advancedAt.push(ms);
      this.expect(
        next.entries.filter(({ offset }) => offset > this.cursor),
        ms,
      );
      this.cursor = Math.max(this.cursor, next.reached);
      if (next.bad !== undefined) this.end = { ...next.bad, atMs: ms };
    }
  }

  private descend(reply: Reply): void {
    const bad = badPageOf(reply);
    const entries = bad?.good ?? this.ledger.entriesOf(reply);
    // an empty page covers the rest
    if (entries === undefined || (bad !== undefined && entries.length === 0)) return;
    const last = entries.at(-1)?.offset ?? this.feed.begin + 1;
    this.expect([...this.ledger.between(last - 1, this.cursor - 1)].reverse(), this.feed.age());
    this.cursor = Math.min(this.cursor, last);
  }

  private expect(entries: readonly Entry[], ms: number): void {
    const updates = entries.flatMap((entry) => this.updateOf(entry) ?? []);
    this.expected.push(...updates);
    if (updates.length > 0) this.newsAt.push(ms);
  }
}

/** A range of the ledger that was delivered whole: all from `begin` to `reached`. */
interface Cover {
  readonly begin: number;
  readonly reached: number;
  /** The entries of the ledger in it at that time. */
  readonly entries: readonly Entry[];
  /** The end that is forced after these entries. */
  readonly bad?: ForcedEnd | undefined;
  /** Whether it is the rest of the range of the cover before: both count as one page. */
  readonly isRest?: boolean;
}

/** A page with fewer elements than its limit: a feed that reads ahead may request the rest before it emits the page. */
interface ShortPage {
  readonly cover: Cover;
  readonly bound: number;
  /** Nothing has followed; the feed requests a token; the request for the rest. */
  state: 'open' | 'token' | ServiceRequest;
  /** Whether there was no token for the request for the rest: it is not requested again. */
  isAlone?: boolean;
  /** When it became open, in milliseconds, and how much had been emitted then. */
  since: { readonly ms: number; readonly emitted: number };
}
