import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../helpers/time.js';
import { capture, parseLines } from '../runCli.js';
import { replayWorld } from './replayWorld.js';

const { world, file, content, size, manifestFile, manifest, start, run, tailOutput } = replayWorld();

describe('the file of replay', () => {
  it('is the output of tail, byte for byte, and is reported as complete', async () => {
    const { code, err, out } = await run('--from', '10', '--to', '200');

    expect({ code, out }).toStrictEqual({ code: 0, out: '' });
    expect(content()).toBe(await tailOutput('--from', '10', '--to', '200'));
    const lines = parseLines(content()).length;
    expect(lines).toBeGreaterThan(50);
    expect(err).toMatch(/^complete: \d+ updates after 10 up to 200, [\d.]+ kB: .*out\.ndjson\n$/);
    expect(manifest()['complete']).toStrictEqual({
      updates: lines,
      bytes: statSync(file()).size,
      sha256: createHash('sha256').update(content()).digest('hex'),
    });
  });

  it('ends at the ledger end of the start', async () => {
    const end = world.sandbox.ledgerEnd;
    world.sandbox.fault({ kind: 'delay', ms: 30 }, { path: /updates/ });
    const { code } = start();
    await until(() => world.sandbox.requests.some(({ path }) => path.includes('updates')));
    world.sandbox.generate(50);

    expect(await code).toBe(0);
    expect(content()).toBe(await tailOutput('--to', String(end)));
    expect(manifest()['to']).toBe(end);
  });

  it('has the selected updates only', async () => {
    const selection = ['--effects', '--variant', 'Transaction', '--synchronizer', world.sandbox.synchronizers[0] ?? ''];
    expect((await run(...selection)).code).toBe(0);

    expect(content()).toBe(await tailOutput('--to', String(world.sandbox.ledgerEnd), ...selection));
    expect(new Set(parseLines(content()).map(({ _tag }) => _tag))).toStrictEqual(new Set(['Transaction']));
  });

  it('waits for new updates up to --to, and has no checkpoints', async () => {
    await world.restart({ earlyCheckpointMs: 5 }, 20);
    const end = world.sandbox.ledgerEnd + 30;
    const from = world.sandbox.ledgerEnd;
    const { code, err } = start('--to', String(end));
    await until(() => world.sandbox.requests.some(({ query }) => 'stream_idle_timeout_ms' in query));
    await until(() => size() > 5_000);
    while (world.sandbox.ledgerEnd < end) world.sandbox.generate(1);

    expect(await code).toBe(0);
    const tags = parseLines(content()).map(({ _tag }) => _tag);
    expect(tags.length).toBeGreaterThan(20);
    expect(tags).not.toContain('OffsetCheckpoint');
    expect(err.text()).toContain(
      `canton-rx: the ledger ends at offset ${from}: waiting for updates up to --to ${end}\n`,
    );
  });

  it('is empty for an empty range', async () => {
    expect((await run('--from', '7', '--to', '7')).code).toBe(0);
    expect(content()).toBe('');
  });

  it('is readable by its owner alone', async () => {
    await run('--to', '20');

    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(manifestFile()).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a refused connection', undefined, 'cannot be reached (ECONNREFUSED)', '→ check that the participant is running'],
    [
      'a web page',
      { kind: 'rewrite', body: () => '<html>' },
      'did not answer as expected',
      '→ the checks find nothing wrong now',
    ],
    ['a refused token', { kind: 'status', status: 401 }, 'requires a token', '→ the checks find nothing wrong now'],
  ] as const)('is not created after %s, and the next step is printed', async (_, fault, reason, next) => {
    if (fault === undefined) await world.sandbox.close();
    else world.sandbox.fault(fault, { path: /ledger-end/ });
    const { code, err } = await run();

    expect(code).toBe(fault === undefined ? 3 : 1);
    expect(err).toContain(reason);
    expect(err).toContain(next);
    expect(err).not.toContain('resumes');
    expect(() => content()).toThrow('ENOENT');
  });

  it('is not created if the ledger ends before --from', async () => {
    const { code, err } = await run('--from', String(world.sandbox.ledgerEnd + 5));

    expect(code).toBe(1);
    expect(err).toContain('nothing was written');
    expect(() => content()).toThrow('ENOENT');
  });
});

describe('replay on a terminal', () => {
  const erase = '\r\u001B[K';

  it('shows its progress, and erases the status line at the end', async () => {
    world.sandbox.fault({ kind: 'delay', ms: 100 }, { path: /flats/ });
    const err = capture({ isTTY: true });
    const { code } = world.start(['replay', '--out', file()], {
      err,
      env: { NO_COLOR: '1' },
    });

    expect(await code).toBe(0);
    const shown = err.text().split(erase);
    expect(shown[1]).toMatch(/^░{20} {3}0% {2}0 \/ \d+ {2}· {2}0\/s {2}· {2}connecting$/);
    expect(shown.at(-1)).toMatch(/^complete: .*\n$/);
  });
});
