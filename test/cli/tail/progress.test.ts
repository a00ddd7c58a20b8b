import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, of, Subject, throwError } from 'rxjs';
import type { Sample } from '../../../src/cli/progress.js';
import { formatTailProgress, type TailProgress, trackLedgerEnd } from '../../../src/cli/tail.js';
import type { Paint } from '../../../src/cli/terminal.js';
import { startSandbox } from '../../../src/sandbox/index.js';
import { marbles } from '../../helpers/time.js';
import { capture, runCli } from '../runCli.js';

const withoutColours: Paint = (_, text) => text;
const visibleColours: Paint = (format, text) => `<${String(format)}>${text}<>`;
const sample = (at: number, cursor: number | undefined, count: number): Omit<Sample<TailProgress>, 'end'> => ({
  at,
  cursor,
  count,
});

describe('the status line of tail', () => {
  const pace = { hasCaughtUp: false };
  const live = { hasCaughtUp: true };

  it.each([
    ['before the first response', [sample(0, undefined, 0)], undefined, pace, '– / –  ·  –/s  ·  connecting'],
    [
      'while catching up',
      [sample(0, 10, 5), sample(2_000, 12_345, 4_005)],
      99_999,
      pace,
      '12 345 / 99 999  ·  2 000/s  ·  catching up',
    ],
    ['after catching up', [sample(0, 12, 5), sample(250, 12, 5)], 12, live, '12 / 12  ·  0/s  ·  caught up'],
    [
      'after the last known ledger end',
      [sample(0, 12, 5), sample(500, 14, 7)],
      12,
      live,
      '14 / 14  ·  4/s  ·  caught up',
    ],
    ['if nothing matches', [sample(0, 12, 5), sample(250, 12, 5)], 40, pace, '12 / 40  ·  0/s  ·  waiting'],
    [
      'for a feed that is pushed',
      [sample(0, 12, 5)],
      12,
      { ...live, isPushed: true },
      '12 / 12  ·  –/s  ·  caught up, by WebSocket',
    ],
    ['without a ledger end', [sample(0, 12, 5)], undefined, live, '12 / –  ·  –/s  ·  caught up'],
    [
      'during an outage',
      [sample(0, 12, 5)],
      undefined,
      { ...live, trouble: 'ECONNREFUSED' },
      '12 / –  ·  –/s  ·  retrying: ECONNREFUSED',
    ],
  ])('%s', (_, recent, end, state, expected) => {
    const [first = sample(0, undefined, 0), ...others] = recent.map((one) => ({ ...one, end }));
    const samples = [{ ...first, end }, ...others] as const;

    expect(formatTailProgress(samples, state, undefined, withoutColours)).toBe(expected);
    expect(formatTailProgress(samples, state, undefined, visibleColours)).toMatch(
      / {2}· {2}<dim>(?:–|[\d ]+)\/s<> {2}· {2}<\w+>[^<]+<>$/,
    );
  });

  it('has the end of a bounded range', () => {
    const samples = [
      { ...sample(0, 12, 5), end: 40 },
      { ...sample(500, 14, 6), end: 40 },
    ] as const;

    expect(formatTailProgress(samples, pace, 20, withoutColours)).toBe('14 / 20  ·  2/s  ·  catching up');
    expect(formatTailProgress(samples, pace, 20, visibleColours)).toMatch(
      / {2}· {2}<dim>(?:–|[\d ]+)\/s<> {2}· {2}<\w+>[^<]+<>$/,
    );
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

describe('tail on a terminal', () => {
  it('shows its progress, and erases the status line at the end', async () => {
    const erase = '\r\u001B[K';
    const sandbox = await startSandbox();
    sandbox.generate(20);
    const caughtUp = new Subject<void>();
    const err = capture({
      isTTY: true,
      take: (text, done) => {
        done();
        if (text.includes('caught up')) caughtUp.next();
      },
    });
    const shown = firstValueFrom(caughtUp);
    const { code, signals } = runCli(['tail', '--ledger', sandbox.url], { err });
    await shown;
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(err.text().endsWith(`${erase}resume with --from ${sandbox.ledgerEnd}\n`)).toBe(true);
    await sandbox.close();
  });
});
