import type { Update } from '../../../src/codecs/Update.js';
import type { Asked, Reply } from '../../helpers/scripted.js';
import type { Entry, VirtualLedger } from '../../helpers/virtualLedger.js';
import type { Cover, Unproven } from './Cover.js';
import { forcedEnd, type ForcedEnd } from './forcedEnd.js';
import { badnessOf, isBeyondEnd, isBounded, isDownward, isPage } from './inflict.js';

/** What a feed is to read, and how. */
export interface Audited {
  readonly begin: number;
  readonly bound: number;
  readonly isDownward: boolean;
  /** The most pages that may be open or held at a time. */
  readonly most: number;
  /** How many updates have been emitted. */
  readonly emitted: () => number;
  readonly age: () => number;
}

/**
 * The model. It stands at the service's door and writes down what has left it whole: each update that was delivered for
 * the first time must be emitted as soon as all before it has been, in the ledger's order, and nothing else; what of the
 * ledger was passed over on the way must be emitted too.
 *
 * What comes ahead of its turn is held until the cursor gets there. An error says nothing unless it is its turn, since
 * the same is then asked for again; a bad page that came ahead ends the feed in its turn.
 */
export class Audit {
  readonly expected: Update[] = [];
  /** When there was something new, in milliseconds. */
  readonly newsAt: number[] = [];
  /** When the cursor moved, in milliseconds, once for each answer that it moved over. */
  readonly groundAt: number[] = [];
  /** What no feed may do. */
  readonly wrong: string[] = [];
  /** How many pages came ahead of their turn. */
  early = 0;
  /** Where a feed must stand that has seen all that was delivered. */
  cursor: number;
  end: (ForcedEnd & { readonly atMs: number }) | undefined;
  /** Where it has stood since the last answer, and how much was to be emitted by then. */
  private stood: readonly { readonly cursor: number; readonly count: number }[] = [];
  private held: readonly Cover[] = [];
  private unproven: readonly Unproven[] = [];
  private readonly open = new Set<Asked>();

  constructor(
    private readonly ledger: VirtualLedger,
    private readonly updateOf: (entry: Entry) => Update | undefined,
    private readonly feed: Audited,
  ) {
    this.cursor = feed.isDownward ? feed.bound + 1 : feed.begin;
  }

  /** A request has come. */
  asked(asked: Asked): void {
    const { most } = this.feed;
    const proven = this.unproven.find((one) => this.isRestOf(asked, one));
    if (proven !== undefined) proven.state = asked;
    this.settle();
    // one after the other means that all of the one before has been emitted
    if (most === 1) this.check();
    this.open.add(asked);
    if (this.open.size > most) this.wrong.push(`${this.open.size} requests at a time`);
    const rests = this.unproven.filter(({ state }) => typeof state === 'object').length;
    const pages = [...this.open].filter(isPage).length - rests + this.unproven.length;
    const held = this.held.filter(({ isRest }) => isRest !== true).length;
    if (pages + held > most) this.wrong.push(`${pages} pages are asked for and ${held} held`);
  }

  /** A token is asked for; returns what is to be told when that is over. */
  tokenAsked(): () => void {
    const { emitted } = this.feed;
    const waiting = this.unproven.find(({ state, since }) => state === 'open' && since.emitted === emitted());
    if (waiting === undefined) return () => undefined;
    waiting.state = 'token';
    return () => {
      if (waiting.state === 'token') this.reopen(waiting);
    };
  }

  /** An answer has reached the client. */
  delivered(asked: Asked, reply: Reply): void {
    this.settle();
    this.check();
    this.stood = [];
    this.open.delete(asked);
    const forced = forcedEnd(asked, reply);
    const cover = this.coverOf(asked, reply, forced);
    const whole = this.unproven.find(({ state }) => state === asked);
    if (!isPage(asked) || isDownward(asked)) {
      this.downTo(reply);
      if (forced !== undefined) this.mustEnd(forced);
    } else if (whole !== undefined) {
      if (cover === undefined) this.reopen(whole);
      else this.take(whole, this.feed.age(), { ...cover, isRest: true });
    } else if (cover === undefined) {
      // what lies ahead of an end that is not reached is given up with it
      if (isBeyondEnd(reply) && isBounded(asked) && this.isInTurn(asked)) this.forget();
      if (forced !== undefined) this.mustEnd(forced, asked);
    } else if (this.mayBeProven(asked, reply, cover)) {
      const since = this.now();
      this.unproven = [...this.unproven, { cover, bound: boundOf(asked), state: 'open', since }];
    } else {
      this.hold(this.feed.age(), cover);
    }
  }

  /** A request is over, answered or not. */
  closed(asked: Asked): void {
    this.open.delete(asked);
    const whole = this.unproven.find(({ state }) => state === asked);
    if (whole !== undefined) this.reopen(whole);
  }

  /** Nothing more has come of what happened last: a page whose rest was not asked for stands for itself. */
  settle(): void {
    for (const one of this.unproven) if (one.state === 'open') this.take(one, one.since.ms);
    // one in its turn may be shown before it is proven: it does not wait for long
    while (this.feed.emitted() > this.expected.length) {
      const shown = this.unproven.find(({ cover }) => cover.begin <= this.cursor);
      if (shown === undefined) return;
      this.take(shown, this.feed.age());
    }
  }

  /** Where a feed may say that it stands, in the middle of what follows from one answer. */
  stands(): readonly number[] {
    this.settle();
    const here = { cursor: this.cursor, count: this.expected.length };
    const emitted = this.feed.emitted();
    return [...this.stood, here].filter(({ count }) => count === emitted).map(({ cursor }) => cursor);
  }

  /** All that must be emitted has been, and no more. */
  check(): void {
    const emitted = this.feed.emitted();
    if (emitted !== this.expected.length && this.wrong.length === 0)
      this.wrong.push(`${emitted} updates are emitted at ${this.feed.age()}, not ${this.expected.length}`);
  }

  /** A feed must end, by what has come of a request: in its turn. */
  mustEnd(forced: ForcedEnd, asked?: Asked): void {
    if (asked === undefined || this.isInTurn(asked)) this.end ??= { ...forced, atMs: this.feed.age() };
  }

  /** The caller has chosen where to go on. */
  jump(offset: number): void {
    this.end = undefined;
    this.forget();
    this.cursor = offset;
  }

  private isInTurn(asked: Asked): boolean {
    return !isPage(asked) || isDownward(asked) || this.feed.most === 1 || asked.body['beginExclusive'] === this.cursor;
  }

  private coverOf(asked: Asked, reply: Reply, bad: ForcedEnd | undefined): Cover | undefined {
    const badness = badnessOf(reply);
    const entries = badness?.good ?? this.ledger.entriesIn(reply);
    // that what is no list at all is an error, and no page
    if (entries === undefined || badness?.isNoPage === true) return undefined;
    const begin = Number(asked.body['beginExclusive']);
    const last = entries.at(-1)?.offset;
    // of a good page that is empty, all is known; of a poll, nothing
    const known = badness === undefined && isBounded(asked) ? boundOf(asked) : begin;
    const reached = Math.max(begin, Math.min(last ?? known, boundOf(asked), this.feed.bound));
    return { begin, reached, entries: this.ledger.between(begin, reached), bad: badness && bad };
  }

  /** Whether the rest of a page's range may be asked for before anything of it is emitted. */
  private mayBeProven(asked: Asked, reply: Reply, { reached, bad }: Cover): boolean {
    const count = this.ledger.entriesIn(reply)?.length ?? 0;
    const isShort = count > 0 && count < Number(asked.query['limit']) && reached < boundOf(asked);
    return this.feed.most > 1 && bad === undefined && isBounded(asked) && isShort;
  }

  private isRestOf({ body }: Asked, { cover, bound, state, since }: Unproven): boolean {
    if (typeof state === 'object') return false;
    if (state === 'open' && since.emitted !== this.feed.emitted()) return false;
    return body['beginExclusive'] === cover.reached && body['endInclusive'] === bound;
  }

  private now(): Unproven['since'] {
    return { ms: this.feed.age(), emitted: this.feed.emitted() };
  }

  private reopen(one: Unproven): void {
    one.state = 'open';
    one.since = this.now();
  }

  private take(one: Unproven, ms: number, ...rest: readonly Cover[]): void {
    this.unproven = this.unproven.filter((other) => other !== one);
    this.hold(ms, one.cover, ...rest);
  }

  private hold(ms: number, ...covers: readonly Cover[]): void {
    this.held = [...this.held, ...covers].sort((a, b) => a.begin - b.begin);
    if ((covers[0]?.begin ?? 0) > this.cursor) this.early += 1;
    this.advance(ms);
  }

  private forget(): void {
    this.held = [];
    this.unproven = [];
  }

  private advance(ms: number): void {
    for (;;) {
      const [next, ...others] = this.held;
      if (next === undefined || next.begin > this.cursor || this.end !== undefined) return;
      this.held = others;
      this.stood = [...this.stood, { cursor: this.cursor, count: this.expected.length }];
      if (next.reached > this.cursor) this.groundAt.push(ms);
      this.expect(
        next.entries.filter(({ offset }) => offset > this.cursor),
        ms,
      );
      this.cursor = Math.max(this.cursor, next.reached);
      if (next.bad !== undefined) this.end = { ...next.bad, atMs: ms };
    }
  }

  private downTo(reply: Reply): void {
    const bad = badnessOf(reply);
    const entries = bad?.good ?? this.ledger.entriesIn(reply);
    // of a good page that is empty, all is known
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

const boundOf = ({ body }: Asked): number =>
  typeof body['endInclusive'] === 'number' ? body['endInclusive'] : Infinity;
