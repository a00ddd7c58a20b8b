import { describe, it, expect } from '@jest/globals';
import { startSandbox } from '../../src/sandbox/index.js';
import { play, read } from './support.js';

const urlIn = (lines: readonly string[]): string => /^http:\S+/.exec(lines[0] ?? '')?.[0] ?? '';

describe('canton-rx sandbox', () => {
  it.each(['SIGINT', 'SIGTERM'])('serves a ledger until %s, and says how to read it', async (signal) => {
    const { code, out, err, signals } = play([
      'sandbox',
      '--port',
      '0',
      '--updates',
      '50',
      '--seed',
      '7',
      '--profile',
      '3.4',
    ]);
    const url = urlIn(await out.lines(4));
    const tail = play(['tail', '--ledger', url, '--to', '50']);

    expect(await tail.code).toBe(0);
    expect(read(tail.out.text()).length).toBeGreaterThan(10);
    expect(out.text()).toContain(`canton-rx tail --ledger ${url}\n`);
    expect(out.text()).toContain('Canton 3.4');
    signals.emit(signal);
    expect(await code).toBe(0);
    expect(err.text()).toBe('');
    await expect(fetch(`${url}/v2/version`)).rejects.toThrow();
  });

  it('generates at a rate', async () => {
    const { code, out, signals } = play(['sandbox', '--port', '0', '--rate', '200']);
    const tail = play(['tail', '--ledger', urlIn(await out.lines(4))]);
    await tail.out.lines(20);
    tail.signals.emit('SIGINT');
    signals.emit('SIGINT');

    expect(await tail.code).toBe(0);
    expect(await code).toBe(0);
  });

  it.each([
    ['0', 'at rest'],
    ['1', 'growing by 1 update a second'],
    ['2', 'growing by 2 updates a second'],
  ])('says how it grows at a rate of %s', async (rate, growth) => {
    const { code, out, signals } = play(['sandbox', '--port', '0', '--rate', rate]);
    const [first] = await out.lines(4);
    signals.emit('SIGINT');

    expect(first).toContain(growth);
    expect(await code).toBe(0);
  });

  it('says which port is taken', async () => {
    const other = await startSandbox();
    const { port } = new URL(other.url);
    const { code, err } = play(['sandbox', '--port', port]);

    expect(await code).toBe(1);
    expect(err.text()).toBe(`port ${port} is taken: choose another with --port\n`);
    await other.close();
  });
});
