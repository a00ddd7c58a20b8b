import { describe, expect, it } from '@jest/globals';
import { cliWorld } from './cliWorld.js';
import { capture } from './runCli.js';

const world = cliWorld();

const failure = (message: string, code: string): Error => Object.assign(new Error(message), { code });

describe.each([['tail'], ['contracts'], ['check']])('the output of %s', (command) => {
  it.each([
    ['is a success without a message if the reader closes the pipe', failure('write EPIPE', 'EPIPE'), 0, ''],
    [
      'is a failure without an offset to resume from if it cannot be written',
      failure('no space left on device', 'ENOSPC'),
      1,
      'canton-rx: cannot write to stdout: no space left on device\n',
    ],
  ])('%s', async (_, error, code, message) => {
    let writes = 0;
    const out = capture({
      take: (_, done) => {
        writes += 1;
        // a snapshot and a report are written at once
        setImmediate(done, writes > 1 || command !== 'tail' ? error : undefined);
      },
    });
    const run = world.start([command], { out });

    expect(await run.code).toBe(code);
    expect(run.err.text()).toBe(message);
    expect(out.text().split('\n')).toHaveLength(command === 'tail' ? 2 : 1);
  });
});
