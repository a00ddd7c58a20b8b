import { describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, NEVER, type Observable, of, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { createLedger, type Ledger, type Offset, PrunedError } from '../../src/index.js';
import { clientOf } from '../../src/ledger/clientOf.js';
import { lookBack } from '../../src/postgres/outbox/lookBack.js';
import type { OutboxRow } from '../../src/postgres/outbox/OutboxRows.js';
import type { CommandsRequest } from '../../src/index.js';
import { withParties } from '../sandbox/commands.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe('the deduplication period of an outbox', () => {
  const row: OutboxRow<CommandsRequest> = {
    id: 1,
    commandId: 'c',
    key: undefined,
    request: { commands: [], actAs: ['alice'] } as unknown as CommandsRequest,
    decide: undefined,
    mayBeCommitted: false,
    since: 100,
    participant: undefined,
    position: undefined,
    failures: 0,
    refusals: 0,
    ageMs: hourMs,
  };
  const given = (value: Offset) =>
    ({ ...row.request, deduplicationPeriod: { DeduplicationOffset: { value } } }) as CommandsRequest;
  const offset = (value: Offset) => ({ DeduplicationOffset: { value } });
  const duration = (ms: number) => ({ DeduplicationDuration: { value: { seconds: ms / 1_000, nanos: 0 } } });

  /** The periods of a ledger whose search emits what is given, and the times for which it searches. */
  const periods = async (found$: Observable<Offset>, keepMs = 30 * dayMs) => {
    const { sandbox } = await withParties();
    const real = createLedger({ baseUrl: sandbox.url });
    const times: Date[] = [];
    const ledger: Ledger = {
      ...real,
      offsetAt: (time) => {
        times.push(new Date(time));
        return found$;
      },
    };
    const { periodOf, laterPeriodOf } = lookBack(ledger, clientOf(real), keepMs);
    const participant = sandbox.participantId;
    return {
      periodOf: (each: OutboxRow<CommandsRequest>) => firstValueFrom(periodOf(each)),
      laterPeriodOf,
      participant,
      times,
    };
  };

  it.each([
    ['36 hours before a command was enqueued', 30 * dayMs, {}, duration(37 * hourMs)],
    ['36 hours before now if it was enqueued in the future', 30 * dayMs, { ageMs: -hourMs }, duration(36 * hourMs)],
    ['half the time for which ids are kept', dayMs, {}, duration(13 * hourMs)],
    ['the ledger end if ids are kept for less than a day', dayMs - 1, {}, offset(100)],
    ['the start of the request', 30 * dayMs, { request: given(40) }, offset(40)],
    ['the ledger end if the request begins later', 30 * dayMs, { request: given(140) }, offset(100)],
  ])('of a first attempt begins at %s', async (_, keepMs, more, expected) => {
    const { periodOf, times } = await periods(NEVER, keepMs);
    expect(await periodOf({ ...row, ...more })).toEqual(expected);
    expect(times).toEqual([]);
  });

  it.each([
    ['at the offset of that time', of(60), {}, offset(60)],
    ['not after the first one', of(160), {}, offset(100)],
    ['at the pruned offset', throwError(() => new PrunedError('/', 80)), {}, offset(80)],
    ['as without looking back if nothing shows the time', throwError(() => new PrunedError('/')), {}, offset(100)],
    ['as without looking back if another participant shows it', of(60), { participant: 'other' }, offset(100)],
    ['at the start of the request', of(60), { request: given(40) }, offset(40)],
  ])('of a later attempt begins %s', async (_, found$, more, expected) => {
    const { periodOf, participant } = await periods(found$);
    expect(await periodOf({ ...row, mayBeCommitted: true, participant, ...more })).toEqual(expected);
  });

  it('is searched once for the same parties and hour', async () => {
    const { periodOf, participant, times } = await periods(of(60));
    const sent = { ...row, mayBeCommitted: true, participant };
    // the hour does not end meanwhile
    const now = Date.UTC(2026, 0, 3, 15, 30);
    jest.spyOn(Date, 'now').mockReturnValue(now);
    await periodOf(sent);
    await periodOf({ ...sent, id: 2 });
    expect(times).toHaveLength(1);
    expect(times[0]).toEqual(new Date('2026-01-02T02:00:00Z'));
    await periodOf({ ...sent, request: { ...row.request, actAs: ['bob'] } });
    await periodOf({ ...sent, ageMs: dayMs });
    expect(times).toHaveLength(3);
    jest.restoreAllMocks();
  });

  it('is searched for a minute, and after 20 failures no more', async () => {
    const { participant } = await periods(NEVER);
    const real = createLedger({ baseUrl: 'http://127.0.0.1:1' });
    const scheduler = new TestScheduler((actual, expected) => {
      expect(actual).toEqual(expected);
    });
    scheduler.run(({ expectObservable }) => {
      const { periodOf } = lookBack({ ...real, offsetAt: () => NEVER }, clientOf(real), 30 * dayMs);
      const sent = { ...row, mayBeCommitted: true, participant };
      const error = expect.objectContaining({ _tag: 'RequestTimeoutError' });
      expectObservable(periodOf({ ...sent, failures: 19 })).toBe('1m #', {}, error);
      expectObservable(periodOf({ ...sent, failures: 20 })).toBe('1m (a|)', { a: offset(100) });
    });
  });

  it.each([
    ['begins where the participant accepts it', 80, {}, offset(80)],
    ['is that without looking back if the participant does not name it', Infinity, {}, offset(100)],
    ['begins before what may be committed', 80, { mayBeCommitted: true }, offset(80)],
    ['does not begin after what may be committed', 101, { mayBeCommitted: true }, undefined],
    ['may begin after what was not committed', 101, {}, offset(101)],
    ['is the one that the request names', 80, { request: given(40) }, undefined],
  ])('%s, after it was pruned', async (_, earliest, more, expected) => {
    const { laterPeriodOf } = await periods(NEVER);
    expect(laterPeriodOf({ ...row, ...more }, earliest)).toEqual(expected);
  });
});
