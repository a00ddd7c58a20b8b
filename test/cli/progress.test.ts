import { describe, it, expect } from '@jest/globals';
import { firstValueFrom, Subject } from 'rxjs';
import { type Pace, paceOf, type ProgressSample, progressText } from '../../src/cli/tail/progress.js';
import { type Paint, statusLine } from '../../src/cli/terminal.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { ConnectionError, RequestTimeoutError } from '../../src/errors/request.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import type { DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { captured, play } from './support.js';

const erase = '\r\u001B[K';
const plainly: Paint = (_, text) => text;
const visibly: Paint = (format, text) => `<${String(format)}>${text}<>`;
const sample = (at: number, cursor: number | undefined, count: number): ProgressSample => ({ at, cursor, count });

describe('progressText', () => {
  const behind = { hasCaughtUp: false, end: undefined, to: undefined };
  const live = { ...behind, hasCaughtUp: true };

  it.each([
    ['asking', [sample(0, undefined, 0)], behind, '… / …  ·  0/s  ·  asking'],
    [
      'catching up',
      [sample(0, 10, 5), sample(2_000, 12_345, 4_005)],
      { ...behind, end: 99_999 },
      '12 345 / 99 999  ·  2 000/s  ·  catching up',
    ],
    ['caught up', [sample(0, 12, 5), sample(250, 12, 5)], { ...live, end: 12 }, '12 / 12  ·  0/s  ·  caught up'],
    [
      'past the end last told',
      [sample(0, 12, 5), sample(500, 14, 7)],
      { ...live, end: 12 },
      '14 / 14  ·  4/s  ·  caught up',
    ],
    ['nothing to match', [sample(0, 12, 5), sample(250, 12, 5)], { ...behind, end: 40 }, '12 / 40  ·  0/s  ·  waiting'],
    [
      'a bounded range',
      [sample(0, 12, 5), sample(500, 14, 6)],
      { ...behind, end: 40, to: 20 },
      '14 / 20  ·  2/s  ·  catching up',
    ],
    [
      'a feed that is pushed',
      [sample(0, 12, 5)],
      { ...live, end: 12, isPushed: true },
      '12 / 12  ·  0/s  ·  caught up, by WebSocket',
    ],
    ['no ledger end', [sample(0, 12, 5)], live, '12 / …  ·  0/s  ·  caught up'],
    [
      'an outage',
      [sample(0, 12, 5)],
      { ...live, trouble: 'ECONNREFUSED' },
      '12 / …  ·  0/s  ·  trying again: ECONNREFUSED',
    ],
  ])('%s', (_, recent, going, expected) => {
    expect(progressText(recent, going, plainly)).toBe(expected);
    expect(progressText(recent, going, visibly)).toMatch(/ {2}· {2}<dim>[\d ]+\/s<> {2}· {2}<\w+>[^<]+<>$/);
  });
});

describe('paceOf', () => {
  const after = (...events: readonly DiagnosticBody[]): Pace =>
    events.reduce<Pace>((pace, event) => paceOf(pace, { ...event, at: 0 }), { hasCaughtUp: false });
  const retry = (cause: LedgerError): DiagnosticBody => ({
    _tag: 'RetryScheduled',
    cause,
    delayMs: 1,
    failures: 1,
    spentMs: 1,
  });
  const page: DiagnosticBody = { _tag: 'PageReceived', path: '/x', count: 0, durationMs: 1 };

  it('knows a feed that is pushed, until its socket is closed', () => {
    const opened: DiagnosticBody = { _tag: 'SocketOpened', path: '/v2/updates', beginExclusive: 7 };
    const cause = new ConnectionError('/v2/updates', 'gone');
    const closed: DiagnosticBody = {
      _tag: 'SocketClosed',
      path: '/v2/updates',
      cause,
      againInMs: 9,
    };
    const caughtUp: DiagnosticBody = { _tag: 'CaughtUp', cursor: 7 };

    expect(after(caughtUp, opened, page)).toEqual({ hasCaughtUp: true, isPushed: true });
    expect(after(caughtUp, opened, page, closed)).toEqual({ hasCaughtUp: true });
  });

  it('follows a feed as it catches up, falls behind and starts anew', () => {
    expect(after({ _tag: 'CaughtUp', cursor: 7 })).toEqual({ hasCaughtUp: true });
    expect(after({ _tag: 'CaughtUp', cursor: 7 }, { _tag: 'FellBehind', cursor: 7 })).toEqual({ hasCaughtUp: false });
    expect(after({ _tag: 'CaughtUp', cursor: 7 }, { _tag: 'FeedStarted', beginExclusive: 7 })).toEqual({
      hasCaughtUp: false,
    });
  });

  it.each([
    ['ECONNREFUSED', new ConnectionError('/x', 'the connection failed', 'ECONNREFUSED')],
    ['there was no answer', new ConnectionError('/x', 'there was no answer')],
    ['503', new ApiError({ path: '/x', status: 503 })],
    ['RequestTimeoutError', new RequestTimeoutError('/x', 30)],
  ])('says what the trouble is, %s, until the feed is answered', (trouble, cause) => {
    expect(after({ _tag: 'CaughtUp', cursor: 7 }, retry(cause))).toEqual({ hasCaughtUp: true, trouble });
    expect(after({ _tag: 'CaughtUp', cursor: 7 }, retry(cause), page)).toEqual({ hasCaughtUp: true });
  });
});

describe('statusLine', () => {
  it('is written in its place, and taken away once', () => {
    const { output, text } = captured({ isTTY: true });
    const line = statusLine(output, visibly);
    line.clear();
    line.show((paint) => paint('red', 'text'));
    line.clear();
    line.clear();

    expect(text()).toBe(`${erase}<red>text<>${erase}`);
  });

  it('is cut, without colours, where it would wrap', () => {
    const { output, text } = captured({ isTTY: true });
    statusLine(output, visibly).show((paint) => paint('red', 'x'.repeat(90)));

    expect(text()).toBe(`${erase}${'x'.repeat(78)}…`);
  });

  it('is shown where a terminal does not know its width', () => {
    const { output, text } = captured({ isTTY: true, columns: 0 });
    statusLine(output, visibly).show((paint) => paint('red', 'text'));

    expect(text()).toBe(`${erase}<red>text<>`);
  });

  it('is nothing without a terminal', () => {
    const { output, text } = captured();
    const line = statusLine(output, visibly);
    line.show(() => 'text');
    line.clear();

    expect([text(), line.isVisible]).toStrictEqual(['', false]);
  });
});

describe('tail on a terminal', () => {
  it('shows how far it is, and leaves no trace of it at the end', async () => {
    const sandbox = await startSandbox();
    sandbox.generate(20);
    const caughtUp = new Subject<void>();
    const err = captured({
      isTTY: true,
      take: (text, done) => {
        done();
        if (text.includes('caught up')) caughtUp.next();
      },
    });
    const shown = firstValueFrom(caughtUp);
    const { code, signals } = play(['tail', '--ledger', sandbox.url], { err });
    await shown;
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(err.text().endsWith(`${erase}resume with --from ${sandbox.ledgerEnd}\n`)).toBe(true);
    await sandbox.close();
  });
});
