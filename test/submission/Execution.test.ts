import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY } from 'rxjs';
import type { DeduplicationPeriod, ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { LedgerString } from '../../src/codecs/scalars.js';
import { Service } from '../../src/feed/Service.js';
import { retryPolicy } from '../../src/http/retry.js';
import { attemptBody, type Execution, randomUuid } from '../../src/submission/Execution.js';
import { effort } from '../helpers/effort.js';
import { signedRequest } from './support.js';

/** When the attempts are made, in milliseconds. */
const now = Date.UTC(2026, 6, 24);

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** A service whose requests take no time. */
const service = (requestTimeoutMs = 0): Service =>
  new Service({
    port: () => EMPTY,
    baseUrl: 'http://ledger.example',
    headers: {},
    token: undefined,
    requestTimeoutMs,
  });

/** The start of a change. */
interface ChangeStart {
  readonly elapsedMs: number;
  readonly since?: number;
}

const execution = ({ elapsedMs, ...start }: ChangeStart, changes: Partial<Execution> = {}): Execution => ({
  service: service(),
  request: signedRequest,
  submission: { submissionId: 'try-1', userId: 'me', actAs: [], sentAt: now - elapsedMs, ...start },
  isFirst: true,
  mayBeCommittedElsewhere: () => false,
  retry: retryPolicy(),
  commandId: undefined,
  ...changes,
});

const withPeriod = (deduplicationPeriod: DeduplicationPeriod): ExecuteRequest => ({
  ...signedRequest,
  deduplicationPeriod,
});

/** The period of the second attempt of a request with a period of its own. */
const periodOf = (period: DeduplicationPeriod, start: ChangeStart): DeduplicationPeriod =>
  attemptBody(execution(start, { request: withPeriod(period) }), { number: 2 }).deduplicationPeriod ?? { Empty: {} };

const offset = fc.oneof(fc.nat({ max: 20 }), fc.maxSafeNat());
const seconds = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 604_800 }));
const periods: fc.Arbitrary<DeduplicationPeriod> = fc.oneof(
  fc.constant({ Empty: {} }),
  fc
    .tuple(seconds, fc.nat({ max: 999_999_999 }))
    .map(([s, nanos]) => ({ DeduplicationDuration: { value: { seconds: s, nanos } } })),
  offset.map((value) => ({ DeduplicationOffset: { value } })),
);
const starts: fc.Arbitrary<ChangeStart> = fc
  .tuple(fc.oneof(fc.nat({ max: 20_000 }), fc.nat({ max: 604_800_000 })), fc.option(offset, { nil: undefined }))
  .map(([elapsedMs, since]) => ({ elapsedMs, ...(since !== undefined && { since }) }));

/** Whether the ledger finds what the first attempt committed, whenever that was. */
function reachesBack(period: DeduplicationPeriod, { elapsedMs, since }: ChangeStart): boolean {
  // it can be as short as 30 seconds
  if ('Empty' in period) return false;
  if ('DeduplicationDuration' in period) return period.DeduplicationDuration.value.seconds * 1_000 > elapsedMs;
  // without a known ledger end, the caller's offset was known before the first attempt
  return since === undefined || period.DeduplicationOffset.value <= since;
}

describe('the deduplication period of a submission that is sent again', () => {
  it('reaches back to the first attempt', () => {
    fc.assert(
      fc.property(periods, starts, (period, start) => {
        expect(reachesBack(periodOf(period, start), start)).toBe(true);
      }),
      { numRuns: effort(500, 2_000) },
    );
  });

  it('reaches as far beyond the first attempt as the caller requests, since the caller may have sent the change before', () => {
    fc.assert(
      fc.property(periods, starts, (requested, start) => {
        const period = periodOf(requested, start);
        if ('DeduplicationDuration' in requested && 'DeduplicationDuration' in period)
          expect(period.DeduplicationDuration.value.seconds * 1_000).toBeGreaterThan(
            requested.DeduplicationDuration.value.seconds * 1_000 + start.elapsedMs,
          );
        if ('DeduplicationOffset' in requested && 'DeduplicationOffset' in period)
          expect(period.DeduplicationOffset.value).toBeLessThanOrEqual(requested.DeduplicationOffset.value);
        expect('DeduplicationOffset' in requested).toBe('DeduplicationOffset' in period);
      }),
      { numRuns: effort(500, 2_000) },
    );
  });

  it('begins at the earliest offset that the participant allows, after it has named that', () => {
    const request = withPeriod({ DeduplicationDuration: { value: { seconds: 600, nanos: 0 } } });
    const { deduplicationPeriod } = attemptBody(execution({ elapsedMs: 5, since: 77 }, { request }), {
      number: 2,
      earliest: 30,
    });
    expect(deduplicationPeriod).toEqual({ DeduplicationOffset: { value: 30 } });
  });

  it('stays a number that JSON can hold', () => {
    const most = { DeduplicationDuration: { value: { seconds: Number.MAX_SAFE_INTEGER, nanos: 0 } } };
    expect(periodOf(most, { elapsedMs: 60_000 })).toEqual(most);
  });

  it('covers the time that the attempts before it may take to arrive', () => {
    const short = { DeduplicationDuration: { value: { seconds: 10, nanos: 0 } } };
    const slow = execution({ elapsedMs: 9_000 }, { request: withPeriod(short), service: service(30_000) });
    expect(attemptBody(slow, { number: 2 }).deduplicationPeriod).toEqual({
      DeduplicationDuration: { value: { seconds: 10 + 1 + 129, nanos: 0 } },
    });
  });
});

/** In place of the participant's own period. */
const week = { DeduplicationDuration: { value: { seconds: 604_800, nanos: 0 } } };

describe('attemptBody', () => {
  const start = { elapsedMs: 60_000, since: 7 };

  it('leaves the first attempt of a change as it is, with its submission id', () => {
    expect(attemptBody(execution(start), { number: 1 })).toEqual({ ...signedRequest, submissionId: 'try-1' });
    const long = withPeriod({ DeduplicationDuration: { value: { seconds: 600, nanos: 5 } } });
    const first = attemptBody(execution(start, { request: long, service: service(30_000) }), { number: 1 });
    expect(first).toEqual({ ...long, submissionId: 'try-1' });
  });

  // a participant may check it after it has committed a later attempt
  it.each<[string, DeduplicationPeriod, Partial<Execution>, DeduplicationPeriod]>([
    [
      'a duration that is shorter than an attempt may take',
      { DeduplicationDuration: { value: { seconds: 3, nanos: 0 } } },
      {},
      { DeduplicationDuration: { value: { seconds: 121, nanos: 0 } } },
    ],
    [
      'an offset after the ledger end',
      { DeduplicationOffset: { value: 999 } },
      {},
      { DeduplicationOffset: { value: 7 } },
    ],
    [
      'not a short duration if there are no other attempts',
      { DeduplicationDuration: { value: { seconds: 3, nanos: 0 } } },
      { retry: retryPolicy({ giveUpAfterMs: 0 }) },
      { DeduplicationDuration: { value: { seconds: 3, nanos: 0 } } },
    ],
  ])('extends in the first attempt %s', (_, requested, changes, deduplicationPeriod) => {
    const request = withPeriod(requested);
    const body = attemptBody(execution(start, { request, service: service(30_000), ...changes }), { number: 1 });
    expect(body).toEqual({ ...request, submissionId: 'try-1', deduplicationPeriod });
  });

  it.each<[string, Partial<Execution>, number]>([
    ['a second attempt', {}, 2],
    ['the first attempt of a change that was sent before', { isFirst: false }, 1],
    ['an attempt while another subscription may have committed it', { mayBeCommittedElsewhere: () => true }, 1],
  ])('gives %s a submission id of its own, and keeps what was signed', (_, changes, attempt) => {
    const body = attemptBody(execution(start, changes), { number: attempt });
    expect(body.submissionId).not.toBe('try-1');
    expect(body).toEqual({ ...signedRequest, submissionId: body.submissionId, deduplicationPeriod: week });
  });
});

describe('randomUuid', () => {
  it('is a UUID of version 4, another each time, and a valid LedgerString', () => {
    const all = Array.from({ length: 1_000 }, randomUuid);
    for (const uuid of all) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(LedgerString.is(uuid)).toBe(true);
    }
    expect(new Set(all).size).toBe(1_000);
  });
});

describe('the deduplication period of a later attempt', () => {
  it.each([
    ['the clock was set back', { elapsedMs: -3_600_000 }, 90_000, 91],
    ['the machine slept, in which time the other clock stood still', { elapsedMs: 90_000 }, 0, 91],
  ])('reaches back to the first attempt if %s', (_, start, sinceSentMs, seconds) => {
    const period = { DeduplicationDuration: { value: { seconds: 1, nanos: 0 } } };
    const changes = { request: withPeriod(period), sinceSentMs: () => sinceSentMs };
    const { deduplicationPeriod } = attemptBody(execution(start, changes), { number: 2 });
    const value = { seconds: expect.closeTo(seconds, -1), nanos: 0 };
    expect(deduplicationPeriod).toEqual({ DeduplicationDuration: { value } });
  });
});
