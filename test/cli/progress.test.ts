import { describe, expect, it } from '@jest/globals';
import { of, take } from 'rxjs';
import { type Pace, retryNotices, shortReason, showProgress } from '../../src/cli/progress.js';
import type { StatusLine } from '../../src/cli/terminal.js';
import type { DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { LedgerResetError } from '../../src/errors/feed.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { ConnectionError, RequestTimeoutError } from '../../src/errors/request.js';
import { marbles } from '../helpers/time.js';
import { capture } from './runCli.js';

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
    ['ECONNREFUSED', new ConnectionError('/x', 'the connection failed', 'ECONNREFUSED')],
    ['the connection broke', new ConnectionError('/x', 'the connection failed', 'UND_ERR_SOCKET')],
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
    const refused = retry(new ConnectionError('/x', 'the connection failed', 'ECONNREFUSED'));
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
