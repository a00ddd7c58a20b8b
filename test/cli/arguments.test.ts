import { readFileSync } from 'node:fs';
import { describe, it, expect } from '@jest/globals';
import { play } from './support.js';

const ledger = ['--ledger', 'http://127.0.0.1:9'];

describe('bad arguments: one line on stderr, exit code 2', () => {
  it.each([
    [[], 'a command is missing'],
    [['tial'], "there is no command 'tial'"],
    [['constructor'], "there is no command 'constructor'"],
    [['__proto__'], "there is no command '__proto__'"],
    [['tail'], 'give --ledger URL or set CANTON_RX_LEDGER_URL'],
    [['tail', '--ledger', 'nonsense'], 'http or https URL'],
    [['tail', '--ledger', 'ftp://host'], 'http or https URL'],
    [['tail', '--ledger', 'http://user:pass@host'], 'without a user or a password'],
    [['tail', '--ledger', 'http://host/?a=b'], 'without a query, a hash or an @'],
    [['check', '--ledger', 'http://host/#a'], 'without a query, a hash or an @'],
    [['replay', '--ledger', 'http://host/p@q', '--out', 'x'], 'without a query, a hash or an @'],
    [['tail', ...ledger, '--frum', '3'], "unknown option '--frum'"],
    [['tail', ...ledger, 'extra'], "unexpected argument 'extra'"],
    [['tail', ...ledger, '--from'], '--from lacks its value'],
    [['tail', ...ledger, '--from', '-1'], '--from lacks its value'],
    [['tail', ...ledger, '--from=-1'], "--from is a whole number from 0 to 9007199254740991, not '-1'"],
    [['tail', ...ledger, '--from', '1e3'], '--from is a whole number'],
    [['tail', ...ledger, '--to', '9007199254740992'], '--to is a whole number'],
    [['tail', ...ledger, '--to', ''], '--to is a whole number'],
    [['tail', ...ledger, '--from', '5', '--to', '3'], '--to 3 lies before --from 5'],
    [['tail', ...ledger, '--party', 'a,b'], '--party is a party id'],
    [['tail', ...ledger, '--template', 'Main:Asset'], '--template is a template'],
    [['tail', ...ledger, '--variant', 'transaction'], '--variant is one of Transaction, Reassignment'],
    [['tail', ...ledger, '--effects=yes'], "option '--effects' does not take an argument"],
    [['tail', ...ledger, '--token-file', '/no/such/file'], 'no such file'],
    [['tail', ...ledger, '--json', '--pretty'], '--json and --pretty are two forms'],
    [['tail', ...ledger, '--websocket', '--to', '3'], '--websocket is for what is to come: leave out --to'],
    [['check'], 'give --ledger URL or set CANTON_RX_LEDGER_URL'],
    [['check', ...ledger, '--party', 'a,b'], '--party is a party id'],
    [['check', ...ledger, '--from', '3'], "unknown option '--from'"],
    [['replay', ...ledger], 'give --out FILE'],
    [['replay', ...ledger, '--out', 'x', '--from', 'end'], '--from is a whole number'],
    [['replay', ...ledger, '--out', 'x', '--from', '5', '--to', '3'], '--to 3 lies before --from 5'],
    [['replay', ...ledger, '--out', 'x', '--variant', 'OffsetCheckpoint'], 'has no OffsetCheckpoint in it'],
    [['replay', '--out', 'x'], 'give --ledger URL'],
    [['demo', 'now'], "unexpected argument 'now'"],
    [['sandbox', '--port', '65536'], '--port is a whole number from 0 to 65535'],
    [['sandbox', '--profile', '2.9'], '--profile is one of 3.4, 3.5, 3.6'],
    [['sandbox', '--rate', '0.5'], '--rate is a whole number'],
    [['sandbox', '--updates', 'many'], '--updates is a whole number'],
    [['sandbox', '--seed', 'x'], '--seed is a whole number'],
  ])('%j', async (line, reason) => {
    const { code, out, err } = play(line);

    expect(await code).toBe(2);
    expect(out.text()).toBe('');
    expect(err.text()).toMatch(/^canton-rx: [^\n]+\n$/);
    expect(err.text()).toContain(reason);
  });

  it.each([
    [['tail', ...ledger, '--token', 's3cret']],
    [['tail', ...ledger, '--token=s3cret']],
    [['tail', '--ledger', 'https://user:s3cret@host']],
    [['tail', '--ledger', 's3cret']],
    [['check', '--ledger', 'http://host/?token=s3cret']],
    [['tail', ...ledger, '--token-file', 'eyJhbGciOiJub25lIn0.s3cret.']],
    [['tail', ...ledger, '--token-file', 'Bearer eyJhbGciOiJub25lIn0.s3cret.']],
    [['check', ...ledger, 'eyJhbGciOiJub25lIn0.s3cret.']],
    [['eyJhbGciOiJub25lIn0.s3cret.']],
    [['check', ...ledger, '--party', 'Bearer eyJhbGciOiJub25lIn0.s3cret.']],
  ])('keep a secret to themselves: %j', async (line) => {
    const { code, out, err } = play(line);

    expect(await code).toBe(2);
    expect(out.text() + err.text()).not.toContain('s3cret');
  });

  it.each(['', '  ', 's3cret with blanks', 's3cret\nmore'])('a token that is none: %j', async (token) => {
    const { code, err } = play(['tail', ...ledger], {
      env: { CANTON_RX_LEDGER_TOKEN: token, CANTON_RX_LEDGER_URL: 'x' },
    });

    // an empty variable is none at all; then the ledger cannot be reached
    expect(await code).toBe(token === '' ? 1 : 2);
    expect(err.text()).not.toContain('s3cret');
  });
});

describe('what needs no ledger', () => {
  it.each([
    [['--help'], 'canton-rx tail '],
    [['-h'], 'canton-rx sandbox'],
    [['tail', '--help'], '--token-file FILE'],
    [['check', '--help'], 'Exit code: 0 all well'],
    [['replay', '-h'], '--out FILE'],
    [['demo', '-h'], 'at work on a ledger of its own'],
    [['sandbox', '-h'], '--profile LINE'],
  ])('%j helps', async (line, expected) => {
    const { code, out, err } = play(line);

    expect(await code).toBe(0);
    expect(out.text()).toContain(expected);
    expect(err.text()).toBe('');
  });

  it.each(['--version', '-v'])('%s is that of package.json', async (option) => {
    const { code, out } = play([option]);

    expect(await code).toBe(0);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(out.text()).toBe(`${version}\n`);
  });

  const reading = ['ledger', 'token-file', 'party', 'template', 'effects', 'variant', 'synchronizer', 'from', 'to'];
  it.each([
    ['check', ['ledger', 'token-file', 'party', 'json']],
    ['tail', [...reading, 'json', 'pretty', 'websocket']],
    ['replay', [...reading, 'out']],
    ['sandbox', ['port', 'profile', 'updates', 'rate', 'seed', 'cors']],
  ])('help of %s names every option, in lines that a terminal has room for', async (command, options) => {
    const { code, out } = play([command, '--help']);
    await code;

    for (const option of options) expect(out.text()).toContain(`--${option} `);
    expect(
      Math.max(
        ...out
          .text()
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(96);
  });
});
