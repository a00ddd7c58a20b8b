import { describe, expect, it } from '@jest/globals';
import { runCli } from './runCli.js';

describe('the demo', () => {
  it('finds both submissions in the feed', async () => {
    const { code, out } = runCli(['demo']);

    expect(await code).toBe(0);
    const text = out.text();
    expect(text.match(/^▸ +\d+ {2}signed by newcomer, committed as 1220\S+: (created|archived)$/gm)).toHaveLength(2);
    expect(text.match(/^✓ +\d+ {2}matched: the feed has 1220/gm)).toHaveLength(2);
    expect(text).toMatch(/✓ 2 submissions, all found among \d+ updates of the feed in \d+\.\d s\n\n$/);
    expect(text).not.toContain('\u001B');
    // each update once, in order
    const offsets = [...text.matchAll(/^ +(\d+) /gm)].map(([, offset]) => Number(offset));
    expect(offsets).toStrictEqual([...new Set(offsets)].sort((a, b) => a - b));
  });
});
