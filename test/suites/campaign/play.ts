import {
  asyncScheduler,
  defer,
  delay,
  finalize,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { Update } from '../../../src/codecs/Update.js';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import type { UpdatesOptions } from '../../../src/feed/UpdatesOptions.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { socketTransport } from '../../../src/ws/socketTransport.js';
import { observe, type Observed } from '../../helpers/observe.js';
import {
  type Reply,
  scriptedService,
  scriptedSockets,
  type ServiceRequest,
  type SocketRequest,
} from '../../helpers/scripted.js';
import { VirtualLedger, type VirtualOptions } from '../../helpers/virtualLedger.js';
import { updateFormat } from '../../helpers/world.js';
import { Answers } from './Answers.js';
import { gapHandler, type GapSeen, Tokens } from './caller.js';
import { applyFault, findFault } from './faults.js';
import { GrowingLedger, replicaAt } from './growingLedger.js';
import { findRequestFlaws, isSearch } from './requests.js';
import { increase, randomFrom } from './runs.js';
import { deafSocketMs, lastEventMs, replacementIn, type Schedule } from './Schedule.js';
import { pollFor, socketSigns } from './socketFaults.js';

/** What was emitted or reported, and where the caller has chosen to continue. */
export type LogEntry = { readonly event: Diagnostic } | { readonly value: Update } | { readonly jump: number };

/** The result of a schedule. */
export interface Outcome {
  readonly schedule: Schedule;
  readonly seen: Observed<Update>;
  readonly answers: Answers;
  readonly ledger: VirtualLedger;
  readonly growing: GrowingLedger;
  /** How much was emitted when another ledger took the place of the first. */
  readonly emittedBefore: () => number;
  readonly begin: number;
  /** `Infinity` for a feed without an end. */
  readonly bound: number;
  readonly log: readonly LogEntry[];
  readonly requestTimes: readonly number[];
  readonly gaps: readonly GapSeen[];
  /** What no request may be, and what must not be left at the end. */
  readonly violations: readonly string[];
  /** How often each kind of fault occurred. */
  readonly faultCounts: ReadonlyMap<string, number>;
}

const requestTimeoutMs = 8_000;
const filter = { filtersByParty: { 'alice::1220ab': { cumulative: [] } } };
/** Long enough for a request that hangs, a back-off, the grace period of a reset, and some polls. */
const settleMs = 45_000;
/** The answers still to come from a slow service with few updates a page, each of them with a proof, in milliseconds. */
const remainingMs = (schedule: Schedule): number => {
  const { ledger, latencyMs, spreadMs, changes, maxListElements, maxPageSize } = schedule;
  const sizes = changes.flatMap((change) => (change.kind === 'restart' ? [change.maxListElements] : []));
  const pages = Math.ceil(ledger.length / Math.max(1, Math.min(maxListElements, maxPageSize, ...sizes)));
  return 2 * (pages + (replacementIn(schedule)?.growth.length ?? 0)) * (latencyMs + spreadMs) + 60 * spreadMs;
};

/** Plays a schedule in virtual time. */
export function play(schedule: Schedule): Outcome {
  const scheduler = new TestScheduler(() => undefined);
  const random = Math.random;
  Math.random = randomFrom(schedule.jitter);
  try {
    return scheduler.run(({ flush }) => {
      const run = new Run(schedule);
      const { outcome } = run;
      // directly on the scheduler, since a timer would be left at the end
      scheduler.schedule(
        () => {
          run.end();
          if (scheduler.actions.length > 0) outcome.violations.push(`${scheduler.actions.length} timers are left`);
        },
        quietFromMs(schedule) + settleMs + deafSocketMs(schedule) + remainingMs(schedule),
      );
      flush();
      return outcome;
    });
  } finally {
    Math.random = random;
  }
}

/** The requests that prove the ledger, while ranges are read ahead: one for a page, and one for the ID of the participant. */
const proofs = 2;

/** When the faults of a schedule end. */
const quietFromMs = (schedule: Schedule): number => Math.max(20_000, lastEventMs(schedule));

const notFound$ = of({ status: 404, headers: {}, text: '' });

/** One feed of one service, from now on. */
class Run {
  readonly outcome: Outcome & { readonly violations: string[] };
  private readonly violations: string[] = [];
  private readonly log: LogEntry[] = [];
  private readonly requestTimes: number[] = [];
  private readonly gaps: GapSeen[] = [];
  private readonly faultCounts = new Map<string, number>();
  private readonly start = asyncScheduler.now();
  /** How many ranges may be requested at a time. */
  private readonly maxOpen: number;
  private readonly ledger: VirtualLedger;
  private readonly answers: Answers;
  private readonly tokens: Tokens | undefined;
  private readonly service = scriptedService((request, n) => this.answer(request, n));
  private readonly sockets = scriptedSockets((request, n) => this.connect(request, n));
  private emitted = 0;
  private position: number;
  private emittedBefore = 0;

  constructor(private readonly schedule: Schedule) {
    const { isDownward, latencyMs, maxListElements, parallelRanges, token } = schedule;
    this.maxOpen = parallelRanges ?? 16;
    const participantId = schedule.profile === 'interface' ? undefined : 'first::1220';
    this.ledger = new VirtualLedger({ latencyMs, maxListElements, participantId });
    const growing = new GrowingLedger(this.ledger, schedule, () => {
      this.answers.stop();
      this.emittedBefore = this.emitted;
    });
    const begin = Math.floor((this.ledger.end * schedule.begin) / 1_000);
    const bound = schedule.bound === null ? Infinity : Math.max(begin, schedule.bound);
    this.position = begin;
    this.answers = new Answers(this.ledger, {
      begin,
      bound,
      isDownward,
      position: () => this.position,
      emitted: () => this.emitted,
      age: this.age,
    });
    this.tokens =
      token === null
        ? undefined
        : new Tokens(token, this.start, (end, request) => {
            this.answers.stopBy(end, request);
          });
    const seen = observe(this.feed(begin, bound));
    growing.start();
    const { answers, ledger, log, requestTimes, gaps, violations, faultCounts } = this;
    const emittedBefore = (): number => this.emittedBefore;
    const played = { schedule, seen, answers, ledger, growing, emittedBefore, begin, bound };
    this.outcome = { ...played, log, requestTimes, gaps, violations, faultCounts };
  }

  /** Ends the feed and checks what is left. */
  end(): void {
    this.outcome.seen.subscription.unsubscribe();
    if (this.service.open + this.sockets.open > 0) this.violations.push('a request is left open');
  }

  private readonly age = (): number => asyncScheduler.now() - this.start;

  private feed(begin: number, bound: number): Observable<Update> {
    const { schedule, tokens } = this;
    const client = createLedger({
      baseUrl: 'http://ledger.example',
      // the lookup of parties has no effect on the feed
      port: (request) => (request.url.includes('/connected-synchronizers') ? notFound$ : this.service.port(request)),
      requestTimeoutMs,
      ...(tokens !== undefined && {
        token: (refused?: string) => tokens.provide(refused),
      }),
      retry: { maxDelayMs: 1_000, giveUpAfterMs: schedule.giveUpAfterMs },
    });
    client.diagnostics$.subscribe((event) => {
      this.log.push({ event });
    });
    const range =
      bound === Infinity
        ? { beginExclusive: begin }
        : { beginExclusive: begin, endInclusive: bound, ...(schedule.isDownward && { descendingOrder: true }) };
    const request = schedule.isLegacy ? { ...range, filter, verbose: true } : { ...range, updateFormat };
    return client.updates(request, this.options()).pipe(
      tap((value) => {
        if (value._tag !== 'OffsetCheckpoint') this.emitted += 1;
        this.position = value.offset;
        this.log.push({ value });
      }),
    );
  }

  private options(): UpdatesOptions & { readonly onUndecodable?: 'fail' } {
    const { socketFaults, maxPageSize, idleTimeoutMs, parallelRanges, onGap } = this.schedule;
    return {
      transport: socketFaults === null ? 'http' : socketTransport(this.sockets.port),
      maxPageSize,
      idleTimeoutMs,
      parallelRanges: parallelRanges ?? undefined,
      ...(onGap !== null && {
        onGap: gapHandler(onGap, this.ledger, (seen) => {
          this.gaps.push(seen);
          if (seen.to === undefined) return;
          this.position = seen.to;
          this.answers.jump(seen.to);
          this.log.push({ jump: seen.to });
        }),
      }),
    };
  }

  private answer(request: ServiceRequest, n: number): Observable<Reply> {
    const { schedule, answers, tokens, ledger, violations } = this;
    let isAnswered = false;
    // a search halves the ledger; how often the feed searches shows in the other requests of a proof
    if (!isSearch(request, answers.cursor)) this.requestTimes.push(this.age());
    tokens?.requestArrived(request);
    if (this.service.open > this.maxOpen + proofs) violations.push(`${this.service.open} requests are open`);
    violations.push(...findRequestFlaws(request, schedule.isDownward));
    const replica = replicaAt(schedule, this.age(), n);
    // answers arrive in another order than their requests
    ledger.reconfigure({ ...replica, latencyMs: schedule.latencyMs + ((n * 7_919) % (1 + schedule.spreadMs)) });
    const answer$ = this.faultyAnswer(request, n, replica) ?? this.honestAnswer(request);
    return (this.isDown() ? this.down$ : merge(this.down$, answer$)).pipe(
      take(1),
      tap((reply) => {
        isAnswered = true;
        answers.delivered(request, reply);
        tokens?.delivered(request, reply);
      }),
      finalize(() => {
        answers.closed(isAnswered);
      }),
    );
  }

  /** Emits when the service stops because another ledger takes its place, also for answers that are late. */
  private readonly down$ = defer(() => {
    const replacement = replacementIn(this.schedule);
    if (replacement === undefined || this.age() >= replacement.atMs + replacement.downMs) return NEVER;
    return timer(Math.max(0, replacement.atMs - this.age())).pipe(map(() => new Error('down')));
  });

  private isDown(): boolean {
    const { atMs = Infinity, downMs = 0 } = replacementIn(this.schedule) ?? {};
    return this.age() >= atMs && this.age() < atMs + downMs;
  }

  private honestAnswer(request: ServiceRequest): Observable<Reply> {
    const { ledger, tokens } = this;
    const { lag, latencyMs } = this.schedule;
    const refusal = tokens?.refusalOf(request);
    if (refusal !== undefined) return of(refusal).pipe(delay(latencyMs));
    const isLagging = lag !== null && this.age() >= lag.fromMs && this.age() < lag.fromMs + lag.forMs;
    return ledger.reply(request, isLagging ? Math.max(0, ledger.end - lag.by) : undefined).pipe(
      // the service checks a token again when it has something to send
      map((reply) => ((ledger.entriesOf(reply) ?? []).length > 0 ? (tokens?.refusalOf(request) ?? reply) : reply)),
    );
  }

  private faultyAnswer(request: ServiceRequest, n: number, replica: VirtualOptions): Observable<Reply> | undefined {
    if (this.age() >= quietFromMs(this.schedule)) return undefined;
    const fault = findFault(this.schedule.faults, request, this.age(), n);
    if (fault === undefined) return undefined;
    const answer$ = applyFault(fault, request, this.honestAnswer(request), this.ledger, replica);
    if (answer$ !== undefined) increase(this.faultCounts, fault.kind === 'status' ? fault.status : fault.kind);
    return answer$;
  }

  private connect(request: SocketRequest, n: number): ReturnType<typeof socketSigns> {
    const { schedule, ledger, answers, service, sockets } = this;
    this.requestTimes.push(this.age());
    // a feed leaves a socket when it opens the next one
    if (sockets.open > 2 || service.open > this.maxOpen + proofs)
      this.violations.push(`${sockets.open} sockets are open`);
    ledger.reconfigure({ ...replicaAt(schedule, this.age(), n), latencyMs: schedule.latencyMs });
    const isQuiet = this.age() >= quietFromMs(schedule);
    const fault = isQuiet ? undefined : schedule.socketFaults?.find(({ socket }) => socket === n)?.fault;
    if (fault !== undefined) increase(this.faultCounts, `socket ${fault.kind}`);
    const token = request.headers['authorization']?.replace('Bearer ', '');
    // a socket that fails raises the same doubt as a request
    if (fault !== undefined) answers.closed(false);
    const signs$ = socketSigns(request, fault, {
      ledger,
      refusal: () => this.tokens?.refusalOf({ ...pollFor(request, 0), token }),
      delivered: (poll, reply) => {
        answers.delivered(poll, reply);
      },
    });
    return this.isDown() ? throwError(() => new Error('down')) : signs$;
  }
}
