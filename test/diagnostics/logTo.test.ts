import { describe, expect, it } from '@jest/globals';
import type { DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { logTo } from '../../src/diagnostics/logTo.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { LedgerResetError, PrunedError } from '../../src/errors/feed.js';
import { CursorError, StoreError } from '../../src/errors/process.js';
import { ConnectionError, InvalidRequestError } from '../../src/errors/request.js';
import { SubmissionRejectedError } from '../../src/errors/submission.js';

const host = '127.0.0.1:7575';
const refused = new ConnectionError('/v2/updates', 'the connection failed', { code: 'ECONNREFUSED', host });

const retry = (failures: number, cause: ApiError | ConnectionError | StoreError = refused): DiagnosticBody => ({
  _tag: 'RetryScheduled',
  cause,
  failures,
  delayMs: 1_240,
  spentMs: 0,
});

/** The line of a failed request. */
const down = 'warn canton-rx: feed 1: 127.0.0.1:7575 cannot be reached (ECONNREFUSED)';

const ended = (error?: Error): DiagnosticBody => ({ _tag: 'FeedEnded', how: 'failed', ...(error && { error }) });

const page: DiagnosticBody = { _tag: 'PageReceived', path: '/v2/updates', count: 1, durationMs: 1 };

/** Logs diagnostics of feed 1, each with its time in seconds, or of the feed that is given; 0 for none. */
function logged(...diagnostics: readonly (readonly [number, DiagnosticBody, number?])[]): string[] {
  const lines: string[] = [];
  const write = (level: string) => (line: string) => lines.push(`${level} ${line}`);
  const log = logTo({ info: write('info'), warn: write('warn'), error: write('error') });
  for (const [seconds, body, feed = 1] of diagnostics) log({ ...body, at: seconds * 1_000, ...(feed > 0 && { feed }) });
  return lines;
}

const one = (body: DiagnosticBody): string | undefined => logged([0, body])[0];

const levelsOf = (lines: readonly string[]) => lines.map((line) => line.split(' ', 1)[0]);

describe('logTo', () => {
  it('logs the first failure with host, port and reason, and then one a minute', () => {
    expect(
      logged([0, retry(1)], [1, retry(2)], [30, retry(3)], [61, retry(4)], [62, retry(5)], [125, retry(6)]),
    ).toEqual([`${down}, retry 1 in 1.2 s`, `${down}, retry 4 in 1.2 s`, `${down}, retry 6 in 1.2 s`]);
  });

  it('logs the recovery, and the next outage at once', () => {
    const lines = logged([0, retry(1)], [3, retry(2)], [12, page], [13, page], [20, retry(1)], [21, page]);
    expect(levelsOf(lines)).toEqual(['warn', 'info', 'warn', 'info']);
    expect(lines[1]).toBe('info canton-rx: feed 1: recovered after 12 s');
  });

  it('logs an outage once for all feeds', () => {
    const feeds = Array.from({ length: 100 }, (_, index) => index + 1);
    const lines = logged(
      ...feeds.map((feed) => [0, retry(1), feed] as const),
      ...feeds.map((feed) => [9, page, feed] as const),
    );
    expect(lines).toEqual([`${down}, retry 1 in 1.2 s`, 'info canton-rx: feed 1: recovered after 9 s']);
  });

  it('logs no recovery of a feed that has ended, or while its own requests still fail', () => {
    const left: DiagnosticBody = { _tag: 'FeedEnded', how: 'unsubscribed' };
    expect(logged([0, retry(1)], [1, left], [2, page])).toHaveLength(1);
    expect(logged([0, retry(1)], [1, page, 2])).toHaveLength(1);
  });

  it('logs the next failure at once after a recovery, so that a crash loop does not end with a recovery', () => {
    const lines = logged([0, retry(1)], [1, page], [2, retry(1)], [3, retry(2)], [8, retry(3)], [58, retry(4)]);
    expect(levelsOf(lines)).toEqual(['warn', 'info', 'warn']);
  });

  it('logs at most three recoveries a minute, and a later one at a later success', () => {
    const loop = Array.from({ length: 20 }, (_, index) => [
      [2 * index, retry(1)] as const,
      [2 * index + 1, page] as const,
    ]).flat();
    const lines = logged(...loop, [59, page], [63, page]);
    expect(levelsOf(lines)).toEqual(['warn', 'info', 'warn', 'info', 'warn', 'info', 'warn', 'info']);
    expect(lines.at(-1)).toBe('info canton-rx: feed 1: recovered after 57 s');
  });

  it('logs no recovery of a request that is not of a feed: another request does not say that it succeeds', () => {
    const busy = new ApiError({ path: '/v2/interactive-submission/prepare', status: 503, text: 'busy', host });
    const delayed: DiagnosticBody = { _tag: 'ResponseDelayed', path: '/x', host, waitedMs: 1_500 };
    const committed: DiagnosticBody = { _tag: 'SubmissionCommitted', submissionId: 's', updateId: 'u', offset: 1 };
    const lines = logged(
      [0, retry(1, busy), 0],
      [1, delayed, 0],
      [2, page, 2],
      [3, retry(2, busy), 0],
      [4, committed, 0],
      [5, page, 2],
    );
    expect(lines).toEqual([
      'warn canton-rx: 127.0.0.1:7575 answered 503: busy, retry 1 in 1.2 s',
      'warn canton-rx: no response from 127.0.0.1:7575 for 1.5 s, still waiting',
    ]);
  });

  it('logs when a store works again: at the next commit, and not at a page', () => {
    const lost = new StoreError('save', 'balances', 'the connection is lost');
    const saved: DiagnosticBody = { _tag: 'CommitSaved', offset: 9, handled: 1, handlerMs: 1, commitMs: 1 };
    expect(logged([0, retry(1, lost)], [1, page])).toHaveLength(1);
    expect(logged([0, retry(1, lost)], [1, retry(1)], [2, page], [3, saved], [4, saved])).toEqual([
      'warn canton-rx: feed 1: The store failed: the connection is lost, retry 1 in 1.2 s',
      `${down}, retry 1 in 1.2 s`,
      'info canton-rx: feed 1: recovered after 1 s',
      'info canton-rx: feed 1: the store works again after 3 s',
    ]);
  });

  it('logs the life of a processor under its name', () => {
    const lines: string[] = [];
    const write = (line: string) => lines.push(line);
    const log = logTo({ info: write, warn: write, error: write });
    const bodies: readonly DiagnosticBody[] = [
      { _tag: 'RoleChanged', role: 'starting' },
      { _tag: 'RoleChanged', role: 'standby', offset: 7 },
      { _tag: 'RoleChanged', role: 'standby', offset: 7, isPaused: true },
      { _tag: 'RoleChanged', role: 'leader', offset: 9 },
      { _tag: 'WorkCaughtUp', offset: 12 },
      { _tag: 'WorkCaughtUp', offset: 13 },
      { _tag: 'HandlerDelayed', offset: 14, waitedMs: 30_000 },
      { _tag: 'HandlerDelayed', offset: 14, waitedMs: 35_000 },
      { _tag: 'CommitDelayed', waitedMs: 10_000 },
      { _tag: 'WorkCaughtUp', offset: 15 },
      { _tag: 'WorkAbandoned', during: 'handler', offset: 16, waitedMs: 10_000 },
      ended(new CursorError('selection', 'balances', 'other parties')),
    ];
    for (const body of bodies) log({ ...body, at: 0, feed: 1, processor: 'balances' });
    expect(lines.map((line) => line.replace('canton-rx: processor balances: ', ''))).toEqual([
      'starting: connects to its store',
      'standing by: another processor holds the name, the cursor is at offset 7',
      'paused, and waits for canton-rx processors resume, the cursor is at offset 7',
      'leading: holds the name and works, the cursor is at offset 9',
      'caught up at offset 12',
      'the handler has worked on offset 14 for 30 s, nothing else is handled',
      'the store has not committed for 10 s, it may wait for a lock',
      'caught up at offset 15',
      'stopped on request, and abandoned the handler at offset 16 after 10 s: what is not committed is handled after a restart',
      expect.stringMatching(
        /^ended with an error: The stored state .* is rejected: other parties; .*Next: restore .*Runbook: https:\/\/\S+#cursorerror-selection$/,
      ),
    ]);
  });

  it('logs the remedy and the runbook of an error whose first line is long', () => {
    expect(logged([0, ended(new CursorError('ledger', 'balances', 'x'.repeat(2_000)))])).toEqual([
      expect.stringMatching(/: ended with an error: .* rejected: x{400,500}; .*Next: .*#cursorerror-ledger$/),
    ]);
  });

  it('logs one failure once a minute, although its text has another id or offset each time', () => {
    const busy = (id: number): DiagnosticBody =>
      retry(id, new ApiError({ path: '/x', status: 503, text: `upstream error, request ${id}`, host }));
    expect(logged([0, busy(1)], [1, busy(2)], [30, busy(3)], [59, busy(4)])).toHaveLength(1);
    // another status is another failure
    const gone = retry(5, new ApiError({ path: '/x', status: 502, text: 'bad gateway', host }));
    expect(logged([0, busy(1)], [1, gone])).toHaveLength(2);
  });

  it('logs each feed that ends with an error, and each update that is skipped', () => {
    const skipped: DiagnosticBody = { _tag: 'UpdateSkipped', offset: 7, attempts: 1, cause: refused };
    expect(logged([0, ended(refused), 1], [0, ended(refused), 2], [0, skipped, 3], [1, skipped, 3])).toHaveLength(4);
  });

  it('writes one line without control characters, whatever a text contains', () => {
    const foreign = 'a\ncanton-rx: feed 1: recovered \u001b[2J\r\u2028\u202eb';
    const bodies: readonly DiagnosticBody[] = [
      { _tag: 'SubmissionUnclear', submissionId: foreign, attempts: 1, cause: refused, delayMs: 250 },
      { _tag: 'SubmissionFailed', submissionId: foreign, error: refused },
      { _tag: 'TypesUnknown', types: [foreign], retryInMs: 1 },
      {
        ...{ _tag: 'ContractUndecoded', contractId: foreign, expectedType: foreign },
        problems: [{ path: foreign, expected: foreign }],
      },
      { _tag: 'HandlerFailed', offset: 7, failures: 1, delayMs: 250, cause: new Error(foreign) },
      retry(1, new ConnectionError('/x', foreign, { host: foreign })),
    ];
    const lines = bodies.map(one);
    expect(lines).toHaveLength(bodies.length);
    for (const line of lines) expect(line).toMatch(/^(warn|error) canton-rx: feed 1: [^\p{Cc}\p{Cf}\u2028]+$/u);
  });

  it.each<[string, unknown, string]>([
    ['is not a string', Object.assign(new Error('x'), { message: 7 }), 'no Error was thrown'],
    [
      'cannot be read',
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('no');
        },
      }),
      'an Error without a message',
    ],
  ])('does not throw for an Error whose message %s', (_, cause, text) => {
    expect(one({ _tag: 'UpdateSkipped', offset: 7, attempts: 1, cause })).toBe(
      `warn canton-rx: feed 1: skipped the update at offset 7: ${text}`,
    );
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the file is closed');
      },
    ],
    // a rejection that nothing handles fails the test
    ['rejects', () => Promise.reject(new Error('the file is closed'))],
  ])('does not throw with a logger that %s', async (_, fail) => {
    const log = logTo({ info: fail, warn: fail, error: fail });
    const failures = retry(1, new ConnectionError('/x', 'refused', { host: 'ledger.example' }));
    expect(() => {
      log({ ...failures, at: 0, feed: 1 });
      log({ _tag: 'CaughtUp', cursor: 1, at: 1, feed: 1 });
      log({ _tag: 'UpdateSkipped', offset: 7, attempts: 1, cause: undefined, at: 2, feed: 1 });
    }).not.toThrow();
    await new Promise(setImmediate);
  });

  it('takes no longer for a line the more it has logged', () => {
    const log = logTo({ info: () => 0, warn: () => 0, error: () => 0 });
    const startedAt = performance.now();
    for (let n = 0; n < 50_000; n += 1)
      log({ _tag: 'SubmissionUnclear', submissionId: `${n}`, attempts: 1, cause: refused, delayMs: 1, at: n });
    // a scan of all groups for each line takes about a minute, and no scan a tenth of a second
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  const rows = { schema: 'contracts', offset: 7, contracts: 3, exercises: 2, updates: 1 };
  const replaced =
    '3 contracts, 2 exercises and 1 updates are removed from the schema contracts, which now has the contracts at offset 7';
  const upgrade = new ConnectionError('/x', 'the upgrade was answered with 403', { host });
  const notLedger = new ApiError({ path: '/x', status: 404, text: 'Cannot GET /', host });
  const unreachable = '127.0.0.1:7575 cannot be reached (ECONNREFUSED)';

  it.each<[string, DiagnosticBody]>([
    [
      'warn: WebSocket: 127.0.0.1:7575 did not answer as expected: the upgrade was answered with 403, the feed continues over HTTP',
      { _tag: 'SocketClosed', path: '/x', cause: upgrade, againInMs: 1 },
    ],
    [
      'warn: The cursor is beyond the ledger end, resumes after offset 7',
      { _tag: 'GapFound', cursor: 9, cause: new LedgerResetError(9, 7), resumesFrom: 7 },
    ],
    [
      'error: ended with an error: The ledger is pruned beyond the cursor; Earliest offset: 25; Path: /x; Next: the updates up to the earliest offset are lost here: resume after it with onGap, or begin again with the active contracts; Runbook: https://unpkg.com/canton-rx/docs/runbook.md#prunederror',
      ended(new PrunedError('/x', 25)),
    ],
    [
      'error: ended with an error: The request is invalid and was not sent; beginExclusive: expected Offset',
      ended(new InvalidRequestError([{ path: 'beginExclusive', expected: 'Offset' }])),
    ],
    ['error: ended with an error: an exception of the program', ended()],
    [
      'error: ended with an error: 127.0.0.1:7575 answered 404, but not as a ledger: Cannot GET /; Path: /x',
      ended(notLedger),
    ],
    [`warn: the snapshot begins again: ${unreachable}`, { _tag: 'SnapshotRestarted', cause: refused, delayMs: 1 }],
    [
      'warn: the participant does not know iou, bond; check the package and the name, next query in 30 s',
      { _tag: 'TypesUnknown', types: ['iou', 'bond'], retryInMs: 30_000 },
    ],
    [
      'warn: a package was uploaded: the contracts at offset 7 were read again, and are 12 now',
      { _tag: 'ContractsReconciled', reason: 'packageFound', offset: 7, contracts: 12 },
    ],
    [
      'warn: the handler failed at offset 7: no such table, retry 1 in 0.3 s',
      { _tag: 'HandlerFailed', offset: 7, failures: 1, delayMs: 250, cause: new Error('no such table\nsecret') },
    ],
    [
      'warn: parked the update at offset 7: no Error was thrown',
      { _tag: 'UpdateParked', offset: 7, attempts: 3, cause: 'secret' },
    ],
    [
      'warn: skipped the update at offset 7: no such table',
      { _tag: 'UpdateSkipped', offset: 7, attempts: 3, cause: new Error('no such table') },
    ],
    [
      'warn: another processor has taken over the name: The store failed: it is held',
      { _tag: 'NameLost', cause: new StoreError('hold', 'balances', 'it is held') },
    ],
    [
      `error: the ledger was restored or replaced: ${replaced}`,
      { _tag: 'RowsReplaced', reason: 'ledgerReset', ...rows },
    ],
    [
      `error: the projection had no cursor and has loaded all contracts: ${replaced}`,
      { _tag: 'RowsReplaced', reason: 'start', ...rows },
    ],
    [
      `warn: submission s1 has no outcome yet: ${unreachable}, retry in 0.3 s`,
      { _tag: 'SubmissionUnclear', submissionId: 's1', attempts: 1, cause: refused, delayMs: 250 },
    ],
    [
      `error: submission s1 failed: ${unreachable}; Path: /v2/updates`,
      { _tag: 'SubmissionFailed', submissionId: 's1', error: refused },
    ],
  ])('logs one readable line: %s', (line, body) => {
    expect(one(body)).toBe(line.replace(':', ' canton-rx: feed 1:'));
  });

  it('logs submissions that fail for one reason once a minute, and lost races as warnings', () => {
    const refusal = (code: string): SubmissionRejectedError => {
      const submission = { submissionId: 's', userId: '', actAs: ['alice'], sentAt: 0, attempts: 1 };
      const error = new ApiError({ path: '/x', status: 409 });
      return new SubmissionRejectedError(Object.assign(error, { code, errorCategory: 2 }), submission);
    };
    const failed = (submissionId: string, code: string): DiagnosticBody => ({
      _tag: 'SubmissionFailed',
      submissionId,
      error: refusal(code),
    });
    const race = 'LOCAL_VERDICT_LOCKED_CONTRACTS';
    const all = [failed('s1', race), failed('s2', race), failed('s3', 'DAML_FAILURE'), failed('s4', 'DAML_FAILURE')];
    const lines = logged(...all.map((body) => [0, body] as const));
    expect(lines.map((line) => line.split(' failed')[0])).toEqual([
      'warn canton-rx: feed 1: submission s1',
      'error canton-rx: feed 1: submission s3',
    ]);
  });

  it('logs contracts of one type that do not decode once a minute', () => {
    const undecoded = (contractId: string): DiagnosticBody => ({
      _tag: 'ContractUndecoded',
      contractId,
      expectedType: 'iou',
      problems: [{ path: 'amount', expected: 'string' }],
    });
    expect(logged([0, undecoded('00a')], [1, undecoded('00b')], [2, undecoded('00c')])).toEqual([
      'warn canton-rx: feed 1: a contract cannot be decoded as iou: 00a, amount: expected string',
    ]);
  });

  it('logs that the requests go to another address', () => {
    const moved = (from: string, to: string): DiagnosticBody => ({ _tag: 'AddressChanged', from, to });
    const lines = logged([0, moved('https://one.example', 'https://two.example')]);
    expect(lines).toEqual([
      'warn canton-rx: feed 1: the requests go to https://two.example now, before to https://one.example',
    ]);
  });

  it('logs that a feed goes on at other offsets, but not that it reads again what follows its last update', () => {
    const moved = (reason: 'outage' | 'restored' | 'relocated'): DiagnosticBody => ({
      _tag: 'PositionMoved',
      reason,
      from: { offset: 9, participantId: 'p1' },
      to: { offset: 7, participantId: 'p2' },
    });
    expect(logged([0, moved('outage')], [1, moved('restored')], [2, moved('relocated')])).toEqual([
      'warn canton-rx: feed 1: the participant was restored: the feed continues after 7, before at 9',
      'warn canton-rx: feed 1: another participant answers, p2: the feed continues after 7, before at 9',
    ]);
  });

  it('logs nothing while all is well', () => {
    const well: readonly DiagnosticBody[] = [
      { _tag: 'FeedStarted', beginExclusive: 0 },
      { _tag: 'PollSent', path: '/x', beginExclusive: 0, limit: 1 },
      page,
      { _tag: 'CaughtUp', cursor: 7 },
      { _tag: 'FellBehind', cursor: 7 },
      { _tag: 'TokenRefreshed', path: '/x' },
      { _tag: 'EndpointSwitched', from: '/x', to: '/y' },
      { _tag: 'GapFound', cursor: 9, cause: new LedgerResetError(9) },
      { _tag: 'FeedEnded', how: 'completed' },
    ];
    expect(logged(...well.map((body) => [0, body] as const))).toEqual([]);
  });
});
