import { describe, it, expect } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { demo } from '../../src/cli/demo/demo.js';
import { rowOf } from '../../src/cli/demo/screen.js';
import { captured } from './support.js';

describe('the demo', () => {
  it('ends well, with every submission found in the feed', async () => {
    const { output, text } = captured();

    expect(await lastValueFrom(demo(output))).toBe(0);
    expect(text().match(/^▸ +\d+ {2}signed by newcomer, committed as 1220\S+: (created|archived)$/gm)).toHaveLength(2);
    expect(text().match(/^✓ +\d+ {2}matched: the feed has 1220/gm)).toHaveLength(2);
    expect(text()).toMatch(/✓ 2 submissions, all found among \d+ updates of the feed, in \d+\.\d s\n\n$/);
    expect(text()).not.toContain('\u001B');
    // each update once, in order
    const offsets = [...text().matchAll(/^ +(\d+) /gm)].map(([, offset]) => Number(offset));
    expect(offsets).toStrictEqual([...new Set(offsets)].sort((a, b) => a - b));
  });

  it('shows updates without a synchronizer or events, too', () => {
    const plain = (_: string, text: string): string => text;

    expect(rowOf({ _tag: 'OffsetCheckpoint', offset: 7, synchronizerTimes: [] }, plain)).toBe(
      '       7  OffsetCheckpoint',
    );
  });
});
