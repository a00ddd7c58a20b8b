import { describe, expect, it } from '@jest/globals';
import { of, take, throwError } from 'rxjs';
import { type Pace, retryNotices, type Samples, shortReason, showProgress } from '../../src/cli/progress.js';
import { formatReplayProgress, type ReplayProgress } from '../../src/cli/replay/writeRange.js';
import { formatTailProgress, type TailProgress, trackLedgerEnd } from '../../src/cli/tail.js';
import type { Paint, StatusLine } from '../../src/cli/terminal.js';
import type { DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { LedgerResetError } from '../../src/errors/feed.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { ConnectionError, RequestTimeoutError } from '../../src/errors/request.js';
import { sandboxes } from '../helpers/localServers.js';
import { marbles, until } from '../helpers/time.js';
import { capture, runCli } from './runCli.js';

const sandboxWith = sandboxes();
const withoutColours: Paint = (_, text) => text;

/** A status line that keeps its last text. */
const fakeStatus = (isVisible = true): { readonly status: StatusLine; readonly texts: (string | undefined)[] } => {
  const texts: (string | undefined)[] = [];
  const status: StatusLine = {
    isVisible,
    show: (format) => texts.push(format((_, text) => text)),
    clear: () => texts.push(undefined),
  };
  return { status, texts };
};

/** The pace that is shown after these diagnostics. */
const paceAfter = (...diagnostics: readonly DiagnosticBody[]): Pace | undefined => {
  let shown: Pace | undefined;
  const ledger = { diagnostics$: of(...diagnostics.map((diagnostic) => ({ ...diagnostic, at: 0 }))) };
  const format = (_: unknown, pace: Pace): string => {
    shown = pace;
    return '';
  };
  marbles(({ flush }) => {
    showProgress(ledger, fakeStatus().status, { read: () => ({}), format })
      .pipe(take(1))
      .subscribe();
    flush();
  });
  return shown;
};

const retry = (cause: LedgerError): DiagnosticBody => ({
  _tag: 'RetryScheduled',
  cause,
  delayMs: 1,
  failures: 1,
  spentMs: 1,
});
const page: DiagnosticBody = { _tag: 'PageReceived', path: '/x', count: 0, durationMs: 1 };
const caughtUp: DiagnosticBody = { _tag: 'CaughtUp', cursor: 7 };

describe('the pace of a feed', () => {
  it('is pushed until its socket is closed', () => {
    const opened: DiagnosticBody = { _tag: 'SocketOpened', path: '/v2/updates', beginExclusive: 7 };
    const cause = new ConnectionError('/v2/updates', 'gone');
    const closed: DiagnosticBody = { _tag: 'SocketClosed', path: '/v2/updates', cause, againInMs: 9 };

    expect(paceAfter(caughtUp, opened, page)).toEqual({ hasCaughtUp: true, isPushed: true });
    expect(paceAfter(caughtUp, opened, page, closed)).toEqual({ hasCaughtUp: true });
  });

  it('follows a feed that catches up, falls behind and restarts', () => {
    expect(paceAfter(caughtUp)).toEqual({ hasCaughtUp: true });
    expect(paceAfter(caughtUp, { _tag: 'FellBehind', cursor: 7 })).toEqual({ hasCaughtUp: false });
    expect(paceAfter(caughtUp, { _tag: 'FeedStarted', beginExclusive: 7 })).toEqual({ hasCaughtUp: false });
  });

  it.each([
    ['ECONNREFUSED', new ConnectionError('/x', 'the connection failed', { code: 'ECONNREFUSED' })],
    ['the connection broke', new ConnectionError('/x', 'the connection failed', { code: 'UND_ERR_SOCKET' })],
    ['there was no answer', new ConnectionError('/x', 'there was no answer')],
    ['503', new ApiError({ path: '/x', status: 503 })],
    ['timeout', new RequestTimeoutError('/x', 30)],
  ])('has the reason of a retry, %s, until the next page', (trouble, cause) => {
    expect(paceAfter(caughtUp, retry(cause))).toEqual({ hasCaughtUp: true, trouble });
    expect(paceAfter(caughtUp, retry(cause), page)).toEqual({ hasCaughtUp: true });
  });
});

describe('retryNotices', () => {
  it('reports an outage, each of its causes once, and its end', () => {
    const refused = retry(new ConnectionError('/x', 'the connection failed', { code: 'ECONNREFUSED' }));
    const reset = retry(new LedgerResetError(1_718, 476));
    const diagnostics = [page, refused, refused, reset, refused, page, page, reset, caughtUp];
    const err = capture();
    retryNotices(
      { diagnostics$: of(...diagnostics.map((one) => ({ ...one, at: 0 }))) },
      'host:1',
      err.output,
    ).subscribe();

    expect(err.text().split('\n')).toStrictEqual([
      'canton-rx: requests to host:1 fail (ECONNREFUSED); retrying',
      'canton-rx: requests to host:1 fail (the ledger ends before the cursor); retrying',
      'canton-rx: host:1 responds again',
      'canton-rx: requests to host:1 fail (the ledger ends before the cursor); retrying',
      'canton-rx: host:1 responds again',
      '',
    ]);
  });
});

describe('the reason of a retry', () => {
  it('says whether the ledger ends before the cursor or is another one', () => {
    expect(shortReason(new LedgerResetError(7, 3))).toBe('the ledger ends before the cursor');
    expect(shortReason(new LedgerResetError(7, undefined, 'the update is gone'))).toBe('another ledger');
  });
});

describe('showProgress', () => {
  const ledger = { diagnostics$: of() };

  it('shows the last samples four times a second, and clears the line at the end', () => {
    const { status, texts } = fakeStatus();
    let count = 0;
    marbles(({ flush }) => {
      showProgress(ledger, status, {
        read: () => ({ count: (count += 1) }),
        seconds: 0.25,
        format: (samples) => samples.map((sample) => `${sample.count}@${sample.at}`).join(),
      })
        .pipe(take(3))
        .subscribe();
      flush();
    });

    expect(texts).toHaveLength(4);
    expect(texts.map((text) => text?.replaceAll(/@\d+/g, ''))).toStrictEqual(['1', '1,2', '2,3', undefined]);
    expect(texts[1]).toMatch(/^1@\d+,2@\d+$/);
  });

  it('begins the samples again when the feed has caught up: the rate before is not that of new updates', () => {
    const { status, texts } = fakeStatus();
    let count = 0;
    marbles(({ cold, flush }) => {
      const diagnostics$ = cold('750ms c|', { c: { ...caughtUp, at: 0 } });
      showProgress({ diagnostics$ }, status, {
        read: () => ({ count: (count += 1) }),
        format: (samples, { hasCaughtUp }) => `${String(hasCaughtUp)} ${samples.map((sample) => sample.count).join()}`,
      })
        .pipe(take(5))
        .subscribe();
      flush();
    });

    expect(texts).toStrictEqual(['false 1', 'false 1,2', 'false 1,2,3', 'true 4', 'true 4,5', undefined]);
  });
});

describe('the status line of tail', () => {
  const pace = { hasCaughtUp: false };
  const live = { hasCaughtUp: true };
  const visibleColours: Paint = (format, text) => `<${String(format)}>${text}<>`;
  type Reading = readonly [at: number, cursor: number | undefined, count: number];

  it.each<[string, readonly [Reading, ...Reading[]], number | undefined, Pace, string]>([
    ['before the first response', [[0, undefined, 0]], undefined, pace, '– / –  ·  –/s  ·  connecting'],
    [
      'while catching up',
      [
        [0, 10, 5],
        [2_000, 12_345, 4_005],
      ],
      99_999,
      pace,
      '12 345 / 99 999  ·  2 000/s  ·  catching up',
    ],
    [
      'after catching up',
      [
        [0, 12, 5],
        [250, 12, 5],
      ],
      12,
      live,
      '12 / 12  ·  0/s  ·  caught up',
    ],
    [
      'after the last known ledger end',
      [
        [0, 12, 5],
        [500, 14, 7],
      ],
      12,
      live,
      '14 / 14  ·  4/s  ·  caught up',
    ],
    [
      'if nothing matches',
      [
        [0, 12, 5],
        [250, 12, 5],
      ],
      40,
      pace,
      '12 / 40  ·  0/s  ·  waiting',
    ],
    ['of a pushed feed', [[0, 12, 5]], 12, { ...live, isPushed: true }, '12 / 12  ·  –/s  ·  caught up, by WebSocket'],
    ['without a ledger end', [[0, 12, 5]], undefined, live, '12 / –  ·  –/s  ·  caught up'],
    [
      'during an outage',
      [[0, 12, 5]],
      undefined,
      { ...live, trouble: 'ECONNREFUSED' },
      '12 / –  ·  –/s  ·  retrying: ECONNREFUSED',
    ],
  ])('%s', (_, [first, ...others], end, state, expected) => {
    const sample = ([at, cursor, count]: Reading) => ({ at, cursor, count, end });
    const samples = [sample(first), ...others.map(sample)] as const;

    expect(formatTailProgress(samples, state, undefined, withoutColours)).toBe(expected);
    expect(formatTailProgress(samples, state, undefined, visibleColours)).toMatch(
      / {2}· {2}<dim>(?:–|[\d ]+)\/s<> {2}· {2}<\w+>[^<]+<>$/,
    );
  });

  it('has the end of a bounded range', () => {
    const samples = [
      { at: 0, cursor: 12, count: 5, end: 40 },
      { at: 500, cursor: 14, count: 6, end: 40 },
    ] as const;

    expect(formatTailProgress(samples, pace, 20, withoutColours)).toBe('14 / 20  ·  2/s  ·  catching up');
  });
});

describe('trackLedgerEnd', () => {
  it('requests the ledger end every two seconds, and forgets it if a request fails', () => {
    const progress: TailProgress = { cursor: 1, count: 1, end: undefined };
    const ends: (number | undefined)[] = [];
    const answers = [of(7), throwError(() => new Error('down')), of(9)];
    marbles(({ cold, flush }) => {
      const ledger = { ledgerEnd: () => answers.shift() ?? of(0) };
      const tracking = trackLedgerEnd(ledger, progress).subscribe();
      cold('-r 1999ms r 1999ms (r|)').subscribe({
        next: () => ends.push(progress.end),
        complete: () => {
          tracking.unsubscribe();
        },
      });
      flush();
    });

    expect(ends).toStrictEqual([7, undefined, 9]);
  });
});

describe('the status line of replay', () => {
  const pace = { hasCaughtUp: false };
  const samples: Samples<ReplayProgress> = [
    { at: 0, cursor: 100, updates: 50 },
    { at: 2_000, cursor: 600, updates: 250 },
  ];

  it('has the share, the offset, the rate and the time left', () => {
    expect(formatReplayProgress(samples, { from: 100, to: 1_100 }, pace, withoutColours)).toBe(
      '██████████░░░░░░░░░░  50%  600 / 1 100  ·  100/s  ·  0:02 left',
    );
    expect(formatReplayProgress(samples, { from: 0, to: 1_000_600 }, pace, withoutColours)).toMatch(/ 1:06:40 left$/);
  });

  it('has the reason why it waits', () => {
    const span = { from: 100, to: 1_100 };
    expect(formatReplayProgress(samples, span, { ...pace, trouble: 'ECONNRESET' }, withoutColours)).toMatch(
      /retrying: ECONNRESET$/,
    );
    expect(formatReplayProgress(samples, span, { hasCaughtUp: true }, withoutColours)).toMatch(
      /waiting for new updates$/,
    );
    expect(formatReplayProgress([samples[0]], span, pace, withoutColours)).toMatch(/0\/s {2}· {2}connecting$/);
    expect(formatReplayProgress([{ at: 0, cursor: 7, updates: 0 }], { from: 7, to: 7 }, pace, withoutColours)).toMatch(
      /^█{20} 100%/,
    );
  });
});

describe('tail on a terminal', () => {
  it('shows its progress, and erases the status line at the end', async () => {
    const erase = '\r\u001B[K';
    const sandbox = await sandboxWith();
    sandbox.generate(20);
    const err = capture({ isTTY: true });
    const { code, signals } = runCli(['tail', '--ledger', sandbox.url], { err });
    await until(() => err.text().includes('caught up'));
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(err.text().endsWith(`${erase}resume with --from ${sandbox.ledgerEnd}\n`)).toBe(true);
  });
});
