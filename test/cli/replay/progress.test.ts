import { describe, expect, it } from '@jest/globals';
import type { Samples } from '../../../src/cli/progress.js';
import { formatReplayProgress, type ReplayProgress } from '../../../src/cli/replay/writeRange.js';

describe('the status line of replay', () => {
  const paint = (_: unknown, text: string): string => text;
  const pace = { hasCaughtUp: false };
  const samples: Samples<ReplayProgress> = [
    { at: 0, cursor: 100, updates: 50 },
    { at: 2_000, cursor: 600, updates: 250 },
  ];

  it('has the share, the offset, the rate and the time left', () => {
    expect(formatReplayProgress(samples, { from: 100, to: 1_100 }, pace, paint)).toBe(
      '██████████░░░░░░░░░░  50%  600 / 1 100  ·  100/s  ·  0:02 left',
    );
    expect(formatReplayProgress(samples, { from: 0, to: 1_000_600 }, pace, paint)).toMatch(/ 1:06:40 left$/);
  });

  it('has the reason why it waits', () => {
    const span = { from: 100, to: 1_100 };
    expect(formatReplayProgress(samples, span, { ...pace, trouble: 'ECONNRESET' }, paint)).toMatch(
      /retrying: ECONNRESET$/,
    );
    expect(formatReplayProgress(samples, span, { hasCaughtUp: true }, paint)).toMatch(/waiting for new updates$/);
    expect(formatReplayProgress([samples[0]], span, pace, paint)).toMatch(/0\/s {2}· {2}connecting$/);
    expect(formatReplayProgress([{ at: 0, cursor: 7, updates: 0 }], { from: 7, to: 7 }, pace, paint)).toMatch(
      /^█{20} 100%/,
    );
  });
});
