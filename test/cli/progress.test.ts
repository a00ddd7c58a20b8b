import { describe, it, expect } from '@jest/globals';
import { firstValueFrom, Subject } from 'rxjs';
import { progressText, type ProgressSample } from '../../src/cli/tail/progressText.js';
import { statusLine } from '../../src/cli/tail/statusLine.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { captured, play } from './support.js';

const erase = '\r\u001B[K';
const sample = (at: number, cursor: number | undefined, count: number): ProgressSample => ({ at, cursor, count });

describe('progressText', () => {
  it.each([
    ['asking', [sample(0, undefined, 0)], undefined, undefined, '… / …  ·  0/s  ·  asking'],
    [
      'catching up',
      [sample(0, 10, 5), sample(2_000, 12_345, 4_005)],
      99_999,
      undefined,
      '12 345 / 99 999  ·  2 000/s  ·  catching up',
    ],
    ['caught up', [sample(0, 12, 5), sample(250, 12, 5)], 12, undefined, '12 / 12  ·  0/s  ·  caught up'],
    ['past the end last told', [sample(0, 12, 5), sample(500, 14, 7)], 12, undefined, '14 / 14  ·  4/s  ·  caught up'],
    ['nothing to match', [sample(0, 12, 5), sample(250, 12, 5)], 40, undefined, '12 / 40  ·  0/s  ·  waiting'],
    ['a bounded range', [sample(0, 12, 5), sample(500, 14, 6)], 40, 20, '14 / 20  ·  2/s  ·  catching up'],
    [
      'no ledger end',
      [sample(0, 12, 5)],
      'unknown' as const,
      undefined,
      '12 / …  ·  0/s  ·  the ledger end is not known',
    ],
  ])('%s', (_, recent, end, to, expected) => {
    const { text, styled } = progressText(recent, end, to);

    expect(text).toBe(expected);
    // eslint-disable-next-line no-control-regex
    expect(styled.replaceAll(/\u001B\[\d+m/g, '')).toBe(expected);
  });
});

describe('statusLine', () => {
  it('is written in its place, and taken away once', () => {
    const { output, text } = captured({ isTTY: true });
    const line = statusLine(output);
    line.clear();
    line.show('plain', 'styled');
    line.clear();
    line.clear();

    expect(text()).toBe(`${erase}styled${erase}`);
  });

  it('is cut, without colours, where it would wrap', () => {
    const { output, text } = captured({ isTTY: true });
    statusLine(output).show('x'.repeat(90), 'styled');

    expect(text()).toBe(`${erase}${'x'.repeat(79)}`);
  });

  it('is nothing without a terminal', () => {
    const { output, text } = captured();
    const line = statusLine(output);
    line.show('plain', 'styled');
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
