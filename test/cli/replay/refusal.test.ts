import { appendFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../helpers/time.js';
import { replayWorld } from './replayWorld.js';

const { world, file, content, manifestFile, manifest, markIncomplete, start, run } = replayWorld();

describe('replay refuses a file and does not change it', () => {
  const expectRefused = async (code: number, reason: string, ...options: readonly string[]): Promise<void> => {
    const before = content();
    const result = await run(...options);

    expect(result.err).toContain(reason);
    expect(result.code).toBe(code);
    expect(content()).toBe(before);
  };

  it.each([
    ['--from', ['--from', '11', '--to', '100'], 'was started with --from 10'],
    ['--to', ['--from', '10', '--to', '101'], 'was started with --to 100'],
    ['--effects', ['--from', '10', '--to', '100', '--effects'], 'was started with other parties'],
    ['--party', ['--from', '10', '--to', '100', '--party', 'alice::12'], 'was started with other parties'],
    ['--variant', ['--from', '10', '--to', '100', '--variant', 'Transaction'], 'was started with other parties'],
  ])('that was started with another %s', async (_, options, reason) => {
    await run('--from', '10', '--to', '100');
    markIncomplete();
    truncateSync(file(), 3_000);

    await expectRefused(2, reason, ...options);
  });

  it('but not for another order of the same options', async () => {
    const [a, b] = ['#sandbox-assets:Main:Asset', '#sandbox-tasks:Tasks.Model:Task'];
    await run('--template', a, '--template', b);

    expect((await run('--template', b, '--template', a)).code).toBe(0);
  });

  it('that belongs to another participant', async () => {
    await run('--to', '100');
    markIncomplete();
    await world.restart({ participantId: 'participant2::1220cc' });

    await expectRefused(1, 'another participant', '--to', '100');
  });

  it('without a manifest', async () => {
    writeFileSync(file(), 'the work of a week');

    await expectRefused(1, 'already exists');
  });

  it('with a line that is not an update or not in order', async () => {
    await run('--to', '100');
    markIncomplete();
    const [first = '', second = '', ...rest] = content().split('\n');
    writeFileSync(file(), [second, first, ...rest].join('\n'));
    await expectRefused(1, 'line 2 of');
    writeFileSync(file(), [first, '{"note":"mine"}', ...rest].join('\n'));
    await expectRefused(1, 'line 2 of');
  });

  it('that was complete and has changed or is missing', async () => {
    await run('--to', '100');
    const whole = content();
    expect((await run('--to', '100')).code).toBe(0);
    writeFileSync(file(), whole.replace('sync', 'sinc'));
    await expectRefused(1, 'has changed since it was complete', '--to', '100');
    writeFileSync(file(), `${whole}{`);
    await expectRefused(1, 'has changed since it was complete', '--to', '100');
    rmSync(file());
    expect((await run('--to', '100')).err).toContain('was complete and is missing');
  });

  it('with an unreadable manifest', async () => {
    await run('--to', '100');
    writeFileSync(manifestFile(), '{"version":1');
    await expectRefused(1, 'was not written by replay', '--to', '100');
    writeFileSync(manifestFile(), '{"version":2}');
    await expectRefused(1, 'was not written by replay', '--to', '100');
  });

  it('that another process writes to', async () => {
    world.sandbox.fault({ kind: 'delay', ms: 60 }, { path: /flats/ });
    const { code, err } = start();
    await until(() => world.sandbox.requests.some(({ path }) => path.includes('flats')));
    appendFileSync(file(), 'x');

    expect(await code).toBe(1);
    expect(err.text()).toContain('is another process writing to it?');
    expect(manifest()).not.toHaveProperty('complete');
  });
});
