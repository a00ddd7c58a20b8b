import { describe, expect, it } from '@jest/globals';
import type { DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { Activity } from '../../src/devtools/Activity.js';
import { ConnectionError } from '../../src/errors/request.js';

const brokenConnection = new ConnectionError('/v2/updates', 'ECONNRESET', { host: 'ledger.example' });

type Report = DiagnosticBody & { readonly feed?: number; readonly processor?: string };

/** What is shown after some reports, one per millisecond. */
function after(...bodies: readonly Report[]): Activity {
  const activity = new Activity();
  for (const [at, body] of bodies.entries()) activity.add({ ...body, at });
  return activity;
}

const retry = { _tag: 'RetryScheduled', delayMs: 1, failures: 1, spentMs: 1 } as const;

describe('the activity of a ledger', () => {
  it.each<[string, readonly Report[], object]>([
    [
      'begins',
      [{ _tag: 'FeedStarted', beginExclusive: 7 }],
      { kind: 'feed', state: 'reading', offset: 7, received: 0 },
    ],
    [
      'reads pages',
      [
        { _tag: 'PageReceived', path: '/', count: 3, first: 8, last: 10, durationMs: 1 },
        { _tag: 'PageReceived', path: '/', count: 1, durationMs: 1 },
      ],
      { state: 'reading', offset: 10, received: 4 },
    ],
    ['is live', [{ _tag: 'CaughtUp', cursor: 12 }], { state: 'live', offset: 12, lag: 0 }],
    [
      'lags',
      [
        { _tag: 'CaughtUp', cursor: 12 },
        { _tag: 'FellBehind', cursor: 13, lag: 400 },
      ],
      { state: 'reading', offset: 13, lag: 400 },
    ],
    ['retries', [{ ...retry, cause: brokenConnection }], { state: 'retrying' }],
    [
      'is a view',
      [
        { _tag: 'SnapshotStarted', by: 'pages' },
        { _tag: 'SnapshotPageReceived', count: 2, total: 2, durationMs: 1 },
        { _tag: 'SnapshotCompleted', offset: 9, count: 2, durationMs: 1 },
      ],
      { kind: 'view', state: 'reading', offset: 9, received: 2 },
    ],
    ['moves', [{ _tag: 'PositionMoved', reason: 'restored', from: { offset: 9 }, to: { offset: 4 } }], { offset: 4 }],
    ['ends', [{ _tag: 'FeedEnded', how: 'failed' }], { state: 'failed' }],
  ])('has a feed that %s', (_, bodies: readonly Report[], expected: object) => {
    expect(after(...bodies.map((body) => ({ ...body, feed: 3 }))).feeds).toEqual([
      expect.objectContaining({ name: 'feed 3', at: bodies.length - 1, ...expected }),
    ]);
  });

  it('names a processor, and lists what runs before what has ended, the last ones first', () => {
    const ends = { _tag: 'FeedEnded', how: 'completed' } as const;
    const activity = after(
      { _tag: 'CaughtUp', cursor: 1, feed: 1 },
      { ...ends, feed: 2 },
      { _tag: 'CaughtUp', cursor: 1, feed: 3, processor: 'payments' },
      { ...ends, feed: 4 },
    );
    expect(activity.feeds.map(({ name }) => name)).toEqual(['payments', 'feed 1', 'feed 4', 'feed 2']);
    expect(activity.feeds[0]?.kind).toBe('processor');
    activity.clear();
    expect(activity.feeds.map(({ name }) => name)).toEqual(['payments', 'feed 1']);
  });

  it('follows a submission to its outcome', () => {
    const submissionId = 's-1';
    const activity = after(
      { _tag: 'SubmissionPrepared', submissionId, commandId: 'c-1' },
      { _tag: 'SubmissionSent', submissionId, attempt: 1 },
      { _tag: 'SubmissionUnclear', submissionId, attempts: 1, cause: brokenConnection, delayMs: 5 },
      { _tag: 'SubmissionSent', submissionId, attempt: 2 },
      { _tag: 'SubmissionCommitted', submissionId, updateId: 'u', offset: 5 },
      { _tag: 'SubmissionSent', submissionId: 's-2', attempt: 1 },
    );
    expect(activity.submissions).toEqual([
      { name: 's-2', state: 'sent', attempts: 1, at: 5 },
      { name: 'c-1', state: 'committed', attempts: 2, offset: 5, at: 4 },
    ]);
    activity.clear();
    expect(activity.submissions.map(({ name }) => name)).toEqual(['s-2']);
  });

  it('counts an error that is repeated, and shows no control characters', () => {
    const odd = Object.assign(new Error('a\u001b[31m\u202eb'), { name: 'Odd' });
    const activity = after(
      { ...retry, cause: brokenConnection, feed: 1 },
      { ...retry, cause: brokenConnection, feed: 1 },
      { ...retry, cause: brokenConnection, feed: 2 },
      { _tag: 'FeedEnded', how: 'failed', error: odd, feed: 2 },
      { _tag: 'FeedEnded', how: 'failed', feed: 3 },
    );
    const errors = activity.errors.map(({ source, count, at }) => [source, count, at]);
    expect(errors).toEqual([
      ['feed 2', 1, 3],
      ['feed 2', 1, 2],
      ['feed 1', 2, 1],
    ]);
    expect(activity.errors[0]?.text).toMatch(/^Odd: a[ -~]+b$/);
    activity.clear();
    expect(activity.errors).toEqual([]);
  });

  it('keeps 50 of what has ended, and all that runs', () => {
    const many = Array.from({ length: 120 }, (_, feed) => feed);
    const activity = after(
      ...many.map((feed) => ({ _tag: 'CaughtUp', cursor: 1, feed }) as const),
      ...many.slice(0, 60).map((feed) => ({ _tag: 'FeedEnded', how: 'completed', feed }) as const),
      ...many.map((n) => ({ _tag: 'SubmissionSent', submissionId: `s-${n}`, attempt: 1 }) as const),
      ...many.map((n) => ({ _tag: 'SubmissionFailed', submissionId: `s-${n}`, error: brokenConnection }) as const),
      ...many.map((feed) => ({ ...retry, cause: brokenConnection, feed })),
    );
    expect([activity.feeds.length, activity.submissions.length, activity.errors.length]).toEqual([120, 50, 50]);
  });
});
