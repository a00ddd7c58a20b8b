import { asyncScheduler, delay, finalize, map, of, take, tap, type Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { Update } from '../../../src/codecs/Update.js';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { scripted, type Asked, type Reply } from '../../helpers/scripted.js';
import { scriptedSockets, type AskedSocket } from '../../helpers/scriptedSockets.js';
import { VirtualLedger } from '../../helpers/virtualLedger.js';
import { updateFormat } from '../../helpers/world.js';
import { Audit } from './Audit.js';
import { chosenAt, type GapSeen } from './chosenAt.js';
import { deafFor } from './deafFor.js';
import { calmAt, Growing } from './grow.js';
import { inflict } from './inflict.js';
import { replicaAt } from './profiles.js';
import { pollFor, pushed, type Door } from './pushed.js';
import { randomFrom } from './randomFrom.js';
import type { Schedule } from './Schedule.js';
import { strikeAt } from './strikeAt.js';
import { Tokens } from './Tokens.js';
import { wrongIn } from './wrongIn.js';

/** What is told, and where the model may have stood then. */
export type Told =
  | { readonly event: Diagnostic; readonly stands: readonly number[] }
  | { readonly value: Update }
  | { readonly jump: number };

/** What has come of a schedule. */
export interface Outcome {
  readonly schedule: Schedule;
  readonly seen: Observed<Update>;
  readonly audit: Audit;
  readonly ledger: VirtualLedger;
  readonly begin: number;
  /** `Infinity` for a feed without an end. */
  readonly bound: number;
  readonly log: readonly Told[];
  readonly askedAt: readonly number[];
  readonly gaps: readonly GapSeen[];
  /** What no request may be, and what must not be left when all is over. */
  readonly wrong: readonly string[];
  /** How often each kind of fault came to pass. */
  readonly inflicted: ReadonlyMap<string, number>;
}

const requestTimeoutMs = 8_000;
const filter = { filtersByParty: { 'alice::1220ab': { cumulative: [] } } };
/** Long enough for a request that hangs, a back-off, the grace of a reset, and some polls. */
const settleMs = 45_000;
/** Page by page, of a service that gives no more than one update. */
const answersToCome = 60;

/** Runs a schedule in virtual time. */
export function play(schedule: Schedule): Outcome {
  const scheduler = new TestScheduler(() => undefined);
  const random = Math.random;
  Math.random = randomFrom(schedule.jitter);
  try {
    return scheduler.run(({ flush }) => {
      const { outcome, end } = begin(schedule);
      // not by a timer, which would itself be left
      scheduler.schedule(
        () => {
          end();
          if (scheduler.actions.length > 0) outcome.wrong.push(`${scheduler.actions.length} timers are left`);
        },
        Math.max(20_000, calmAt(schedule)) + settleMs + deafFor(schedule) + answersToCome * schedule.spreadMs,
      );
      flush();
      return outcome;
    });
  } finally {
    Math.random = random;
  }
}

/** The outcome that is being made, and how to end it. */
interface Play {
  readonly outcome: Outcome & { readonly wrong: string[] };
  readonly end: () => void;
}

function begin(schedule: Schedule): Play {
  const { isDownward, latencyMs, maxListElements, maxPageSize, idleTimeoutMs, giveUpAfterMs, lag } = schedule;
  const start = asyncScheduler.now();
  const age = (): number => asyncScheduler.now() - start;
  const wrong: string[] = [];
  const log: Told[] = [];
  const askedAt: number[] = [];
  const gaps: GapSeen[] = [];
  const inflicted = new Map<string, number>();
  const ledger = new VirtualLedger({ latencyMs, maxListElements });
  const growing = new Growing(ledger, schedule);
  const beginExclusive = Math.floor((ledger.end * schedule.begin) / 1_000);
  const bound = schedule.bound === null ? Infinity : Math.max(beginExclusive, schedule.bound);
  const most = schedule.parallelRanges ?? 16;
  let emitted = 0;
  const audit = new Audit(ledger, growing.updateOf, {
    begin: beginExclusive,
    bound,
    isDownward,
    most,
    emitted: () => emitted,
    age,
  });
  const tokens =
    schedule.token === null
      ? undefined
      : new Tokens(schedule.token, start, (end, asked) => {
          audit.mustEnd(end, asked);
        });
  const token = (given: Tokens) => (): Observable<string> => {
    const over = audit.tokenAsked();
    return given.provide().pipe(finalize(over));
  };

  const honest = (asked: Asked): Observable<Reply> => {
    const refusal = tokens?.refusalOf(asked);
    if (refusal !== undefined) return of(refusal).pipe(delay(latencyMs));
    const isLagging = lag !== null && age() >= lag.fromMs && age() < lag.fromMs + lag.forMs;
    return ledger.answer(asked, isLagging ? Math.max(0, ledger.end - lag.by) : undefined).pipe(
      // a token that expires on the way is noticed when there is something to send
      map((reply) => ((ledger.entriesIn(reply) ?? []).length > 0 ? (tokens?.refusalOf(asked) ?? reply) : reply)),
    );
  };
  const service = scripted((asked, n) => {
    askedAt.push(age());
    audit.asked(asked);
    tokens?.asked(asked);
    if (service.open > most) wrong.push(`${service.open} requests are open`);
    wrong.push(...wrongIn(asked, isDownward));
    const replica = replicaAt(schedule, age(), n);
    // answers come in another order than they were asked for
    ledger.become({ ...replica, latencyMs: latencyMs + ((n * 7_919) % (1 + schedule.spreadMs)) });
    const strike = age() < Math.max(20_000, calmAt(schedule)) ? strikeAt(schedule.strikes, asked, age(), n) : undefined;
    const struck = strike && inflict(strike, asked, honest(asked), ledger, replica);
    if (struck !== undefined) {
      const name = strike?.kind === 'status' ? strike.status : (strike?.kind ?? '');
      inflicted.set(name, (inflicted.get(name) ?? 0) + 1);
    }
    return (struck ?? honest(asked)).pipe(
      take(1),
      tap((reply) => {
        audit.delivered(asked, reply);
        tokens?.delivered(asked, reply);
      }),
      finalize(() => {
        audit.closed(asked);
      }),
    );
  });
  const door = (asked: AskedSocket): Door => ({
    ledger,
    refusal: () =>
      tokens?.refusalOf({ ...pollFor(asked, 0), token: asked.headers['authorization']?.replace('Bearer ', '') }),
    delivered: (poll, reply) => {
      audit.delivered(poll, reply);
    },
  });
  const sockets = scriptedSockets((asked, n) => {
    askedAt.push(age());
    if (sockets.open + service.open > most) wrong.push(`${sockets.open} sockets are open`);
    ledger.become({ ...replicaAt(schedule, age(), n), latencyMs });
    const isCalm = age() >= Math.max(20_000, calmAt(schedule));
    const fault = isCalm ? undefined : schedule.pushes?.find(({ socket }) => socket === n)?.fault;
    if (fault !== undefined) inflicted.set(`socket ${fault.kind}`, (inflicted.get(`socket ${fault.kind}`) ?? 0) + 1);
    return pushed(asked, fault, door(asked));
  });
  const client = createLedger({
    baseUrl: 'http://ledger.example',
    port: service.port,
    webSocket: sockets.port,
    requestTimeoutMs,
    ...(tokens !== undefined && { token: token(tokens) }),
    retry: { maxDelayMs: 1_000, giveUpAfterMs },
  });
  client.diagnostics$.subscribe((event) => {
    const isTurn = event._tag === 'CaughtUp' || event._tag === 'FellBehind';
    log.push({ event, stands: isTurn ? audit.stands() : [] });
  });
  const { onGap } = schedule;
  const options = {
    transport: schedule.pushes === null ? ('http' as const) : ('websocket' as const),
    maxPageSize,
    idleTimeoutMs,
    parallelRanges: schedule.parallelRanges ?? undefined,
    ...(onGap !== null && {
      onGap: chosenAt(onGap, ledger, (seen) => {
        gaps.push({ ...seen, modelAt: audit.cursor });
        if (seen.to === undefined) return;
        audit.jump(seen.to);
        log.push({ jump: seen.to });
      }),
    }),
  };
  const range =
    bound === Infinity
      ? { beginExclusive }
      : { beginExclusive, endInclusive: bound, ...(isDownward && { descendingOrder: true }) };
  const request = schedule.isLegacy ? { ...range, filter, verbose: true } : { ...range, updateFormat };
  const seen = observe(
    client.updates(request, options).pipe(
      tap((value) => {
        if (value._tag !== 'OffsetCheckpoint') emitted += 1;
        log.push({ value });
      }),
    ),
  );
  growing.start();
  const outcome = { schedule, seen, audit, ledger, begin: beginExclusive, bound, log, askedAt, gaps, wrong, inflicted };
  const end = (): void => {
    audit.settle();
    audit.check();
    wrong.push(...audit.wrong);
    seen.subscription.unsubscribe();
    if (service.open + sockets.open > 0) wrong.push('a request is left open');
  };
  return { outcome, end };
}
