import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../helpers/time.js';
import { cliWorld } from '../cliWorld.js';
import { parseLines } from '../runCli.js';

const world = cliWorld();

describe('the token of tail', () => {
  const secret = 'eyJhbGciOi.s3cret.token';

  it('is read from the environment, and is not printed', async () => {
    await world.restart({ checkToken: (token) => token === secret });
    const { code, out, err } = world.start(['tail', '--to', '60'], {
      env: { CANTON_RX_LEDGER_TOKEN: secret },
    });

    expect(await code).toBe(0);
    expect(out.text() + err.text()).not.toContain('s3cret');
  });

  it('is read from a file for every request', async () => {
    const file = join(world.folder, 'token');
    let good = `${secret}1`;
    writeFileSync(file, `${good}\n`);
    await world.restart({ checkToken: (token) => token === good });
    const { code, out, err, signals } = world.start(['tail', '--token-file', file]);
    // a request is pending then
    await until(() =>
      world.sandbox.requests.some(({ path, status }) => path.includes('/updates') && status === undefined),
    );
    await out.lines(100);
    good = `${secret}2`;
    writeFileSync(file, `${good}\n`);
    // more than the pending request can have: the rest is requested with the other token
    world.sandbox.generate(250);
    const end = world.sandbox.ledgerEnd;
    await until(() => parseLines(out.text()).some(({ offset }) => Number(offset) >= end - 3));
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(out.text() + err.text()).not.toContain('s3cret');
  });

  it('in the file takes precedence over that in the environment', async () => {
    const file = join(world.folder, 'token');
    writeFileSync(file, secret);
    await world.restart({ checkToken: (token) => token === secret });
    const { code } = world.start(['tail', '--to', '60', '--token-file', file], {
      env: { CANTON_RX_LEDGER_TOKEN: 'another' },
    });

    expect(await code).toBe(0);
  });

  it('ends it if it is refused, and is not printed', async () => {
    await world.restart({ checkToken: () => false });
    const { code, out, err } = world.start(['tail'], {
      env: { CANTON_RX_LEDGER_TOKEN: secret },
    });

    expect(await code).toBe(5);
    expect(out.text()).toBe('');
    expect(err.text()).toMatch(/^canton-rx: 127\.0\.0\.1:\d+ refuses the token\.\n/);
    expect(err.text()).toContain('✗ token  token refused (401)');
    expect(err.text()).not.toContain(secret);
  });
});
