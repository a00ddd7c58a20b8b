import { describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { demo } from '../../src/cli/demo/demo.js';
import { demoScreen } from '../../src/cli/demo/screen.js';
import { capture } from './runCli.js';

describe('the demo', () => {
  it('finds both submissions in the feed', async () => {
    const { output, text } = capture();

    expect(await lastValueFrom(demo(output))).toBe(0);
    expect(text().match(/^▸ +\d+ {2}signed by newcomer, committed as 1220\S+: (created|archived)$/gm)).toHaveLength(2);
    expect(text().match(/^✓ +\d+ {2}matched: the feed has 1220/gm)).toHaveLength(2);
    expect(text()).toMatch(/✓ 2 submissions, all found among \d+ updates of the feed in \d+\.\d s\n\n$/);
    expect(text()).not.toContain('\u001B');
    // each update once, in order
    const offsets = [...text().matchAll(/^ +(\d+) /gm)].map(([, offset]) => Number(offset));
    expect(offsets).toStrictEqual([...new Set(offsets)].sort((a, b) => a - b));
  });

  it('shows updates without a synchronizer or events', () => {
    const { output, text } = capture();
    demoScreen(output).update({ _tag: 'OffsetCheckpoint', offset: 7, synchronizerTimes: [] });

    expect(text()).toBe('       7  OffsetCheckpoint\n');
  });
});
