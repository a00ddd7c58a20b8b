import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { suggest } from '../../src/cli/arguments.js';
import { runCli } from './runCli.js';

const ledger = ['--ledger', 'http://127.0.0.1:9'];
const project = ['project', ...ledger, '--database', 'postgres://x/y'];
const submit = ['submit', ...ledger, '--template', '#p:M:E'];

describe('bad arguments', () => {
  it.each([
    [
      [],
      'no command: use one of check, contracts, tail, replay, submit, project, processors, parked, outbox, sandbox, completion, demo',
    ],
    [['tial'], "unknown command 'tial': did you mean tail?"],
    [['contract'], 'did you mean contracts?'],
    [['nothing'], "unknown command 'nothing': use one of check, contracts,"],
    [['--ledger', 'http://127.0.0.1:9'], "the first argument must be a command, got '--ledger'"],
    [['http://127.0.0.1:9'], 'did you mean canton-rx check --ledger http://127.0.0.1:9?'],
    [['constructor'], "unknown command 'constructor'"],
    [['__proto__'], "unknown command '__proto__'"],
    [['tail'], 'use --ledger URL or --context NAME, or set CANTON_RX_LEDGER_URL'],
    [['tail', '--ledger', 'nonsense'], '--ledger must be an absolute http(s) URL'],
    [['tail', '--ledger', 'ftp://host'], '--ledger must be an absolute http(s) URL'],
    [['tail', '--ledger', 'http://user:pass@host'], 'without a user or password'],
    [['tail', '--ledger', 'http://host/?a=b'], 'without a query, a hash or an @'],
    [['check', '--ledger', 'http://host/#a'], 'without a query, a hash or an @'],
    [['replay', '--ledger', 'http://host/p@q', '--out', 'x'], 'without a query, a hash or an @'],
    [['tail', ...ledger, '--frum', '3'], "unknown option '--frum': did you mean --from?"],
    [['tail', ...ledger, 'extra'], "unexpected argument 'extra'"],
    [
      ['tail', 'http://127.0.0.1:9'],
      "unexpected argument 'http://127.0.0.1:9': did you mean --ledger http://127.0.0.1:9?",
    ],
    [['check', 'localhost:7575'], 'did you mean --ledger http://localhost:7575?'],
    [['check', '--ledger', 'localhost:7575'], 'did you mean http://localhost:7575?'],
    [['tail', '--url', 'http://127.0.0.1:9'], 'did you mean --ledger?'],
    [['replay', ...ledger, '--output', 'x'], 'did you mean --out?'],
    [['tail', ...ledger, '--colour'], "unknown option '--colour': use --ledger, --token-file,"],
    [['demo', '--fast'], "unknown option '--fast': use --help"],
    [['tail', ...ledger, '--from'], '--from requires a value'],
    [['tail', ...ledger, '--from=-1'], "--from must be an integer from 0 to 9007199254740991, got '-1'"],
    [['tail', ...ledger, '--from', '1e3'], '--from must be an integer'],
    [['tail', ...ledger, '--to', '9007199254740992'], '--to must be an integer'],
    [['tail', ...ledger, '--to', ''], '--to must be an integer'],
    [['tail', ...ledger, '--from', '5', '--to', '3'], '--to 3 is before --from 5'],
    [['tail', ...ledger, '--party', 'a,b'], '--party must be a party id'],
    [['tail', ...ledger, '--template', 'Main:Asset'], '--template must be a template'],
    [['tail', ...ledger, '--template', 'tasks-v1:Main:Asset'], "did you mean '#tasks-v1:Main:Asset'?"],
    [['tail', ...ledger, '--variant', 'transaction'], "got 'transaction': did you mean Transaction?"],
    [['tail', ...ledger, '--effects=yes'], "option '--effects' does not take an argument"],
    [['tail', ...ledger, '--token-file', '/no/such/file'], 'no such file'],
    [['tail', ...ledger, '--json', '--pretty'], '--json and --pretty exclude each other'],
    [['tail', ...ledger, '--websocket', '--to', '3'], '--websocket excludes --to'],
    [['tail', ...ledger, '--from', '-1'], "--from must be an integer from 0, got '-1'"],
    [['tail', ...ledger, '--from', '3', '-n', '5'], '--from excludes --since and --count'],
    [['tail', ...ledger, '--since', 'noon'], '--since must be a time such as'],
    [['tail', ...ledger, '--since', '2026-02-30T10:00Z'], '--since must be a time such as'],
    [['tail', ...ledger, '--since', '2026-11-27T25:00Z'], '--since must be a time such as'],
    [['tail', ...ledger, '--since', '99999999999d'], '--since must be a time such as'],
    [['tail', ...ledger, '--since', '2026-11-27T10:00'], '--since must have a time zone, because'],
    [
      ['tail', ...ledger, '--since', '2026-11-27'],
      "such as 2026-11-23T10:00Z or 2026-11-23T10:00+01:00, got '2026-11-27'",
    ],
    [['replay', ...ledger, '--out', 'x', '--since', '2026-11-27T10:00:00'], '--since must have a time zone, because'],
    [['contracts', ...ledger, '--to', '3'], "unknown option '--to': did you mean --at?"],
    [['contracts', ...ledger, '--at', 'end'], '--at must be an integer'],
    [['contracts', ...ledger, '--at', '7', '--follow'], 'excludes --at'],
    [['contracts', ...ledger, '--party', ''], '--party must be a party id'],
    [['contracts', ...ledger, '--output', 'cvs'], "got 'cvs': did you mean csv?"],
    [['contracts', ...ledger, '--output', 'csv', '--follow'], '--output csv excludes --follow'],
    [['contracts', ...ledger, '--output', 'csv', '--json'], '--output excludes --json and --pretty'],
    [['contracts', ...ledger, '--output', 'table', '--pretty'], '--output excludes --json and --pretty'],
    [['replay', ...ledger, '--out', '/tmp'], '--out /tmp is a folder: add the name of a file'],
    [['replay', ...ledger, '--out', '/no/such/file'], 'the folder of --out does not exist: /no/such'],
    [['check'], 'use --ledger URL or --context NAME, or set CANTON_RX_LEDGER_URL'],
    [['check', ...ledger, '--party', 'a,b'], '--party must be a party id'],
    [['check', ...ledger, '--from', '3'], "unknown option '--from'"],
    [['replay', ...ledger], 'use --out FILE'],
    [['replay', ...ledger, '--out', 'x', '--from', 'end'], '--from must be an integer'],
    [['replay', ...ledger, '--out', 'x', '--from', '5', '--to', '3'], '--to 3 is before --from 5'],
    [['replay', ...ledger, '--out', 'x', '--variant', 'OffsetCheckpoint'], 'replay leaves checkpoints out'],
    [['replay', '--out', 'x'], 'use --ledger URL or --context NAME'],
    [submit, 'no party'],
    [[...submit, '--act-as', 'a::12', '--file', '/nowhere.json'], '--file excludes --template'],
    [['submit', ...ledger, '--act-as', 'a::12', '--file', '/nowhere.json'], 'cannot read --file'],
    [['submit', ...ledger, '--act-as', 'a::12'], 'no command'],
    [[...submit, '--act-as', 'a::12', '--choice', 'X'], '--choice and --contract require each other'],
    [[...submit, '--act-as', 'a::12', '--argument', '{'], '--argument must contain valid JSON'],
    [[...submit, '--act-as', 'a::12', '--since', '3'], '--since requires --command-id'],
    [['project', ...ledger], 'no database: use --database URL or set CANTON_RX_DATABASE_URL'],
    [['project', ...ledger, '--database', 'localhost:5432'], '--database must be a URL such as postgres://'],
    [[...project, '--schema', 'My Schema'], '--schema must be lower-case letters'],
    [[...project, '--log-every', '-1'], '--log-every'],
    [[...project, '--on-selection-change', 'drop'], '--on-selection-change must be one of fail, end, keep'],
    [[...project, '--on-replaced', 'stop'], '--on-replaced must be one of reload, fail'],
    [[...project, '--at', '7'], "unknown option '--at'"],
    [['demo', 'now'], "unexpected argument 'now'"],
    [['sandbox', '--port', '65536'], '--port must be an integer from 0 to 65535'],
    [['sandbox', '--profile', '2.9'], '--profile must be one of 3.3, 3.4, 3.5, 3.6, 3.7'],
    [['sandbox', '--rate', '0.5'], '--rate must be an integer'],
    [['sandbox', '--updates', 'many'], '--updates must be an integer'],
    [['sandbox', '--token', 'a', '--token-file', 'b'], 'there is no option --token'],
    [['sandbox', '--seed', 'x'], '--seed must be an integer'],
  ])('%j end with one line on stderr and exit code 2', async (line, reason) => {
    const { code, out, err } = runCli(line);

    expect(await code).toBe(2);
    expect(out.text()).toBe('');
    expect(err.text()).toMatch(/^canton-rx: [^\n]+\n$/);
    expect(err.text()).toContain(reason);
  });

  it.each([
    ['CANTON_RX_LEDGER_URL', 'foo', ['tail'], 'must be an absolute http(s) URL, such as http://127.0.0.1:7575'],
    ['CANTON_RX_LEDGER_URL', 'localhost:7575', ['check'], 'must be an absolute http(s) URL: did you mean http://local'],
    ['CANTON_RX_LEDGER_TOKEN', 'Bearer x', ['tail', ...ledger], 'must contain the token alone, without "Bearer "'],
    ['CANTON_RX_DATABASE_URL', 'foo', ['processors', 'list'], 'must be a URL such as postgres://'],
    ['CANTON_RX_CONFIG', '/no/such/file', ['tail', '--context', 'dev'], '--context requires the file /no/such/file'],
  ])('name the variable that has one: %s=%s', async (variable, value, line, reason) => {
    const { code, err } = runCli(line, { env: { [variable]: value } });

    expect(await code).toBe(2);
    expect(err.text()).toMatch(/^canton-rx: [^\n]+\n$/);
    expect(err.text()).toContain(variable === 'CANTON_RX_CONFIG' ? reason : `canton-rx: ${variable} ${reason}`);
  });

  it.each([
    [['tail', ...ledger, '--token', 's3cret']],
    [['tail', ...ledger, '--token=s3cret']],
    [['tail', '--ledger', 'https://user:s3cret@host']],
    [['tail', '--ledger', 's3cret']],
    [['tail', 'http://host/?token=s3cret']],
    [['tail', 'https://user:s3cret@host']],
    [['https://user:s3cret@host']],
    [['check', '--ledger', 'http://host/?token=s3cret']],
    [['tail', ...ledger, '--token-file', 'eyJhbGciOiJub25lIn0.s3cret.']],
    [['tail', ...ledger, '--token-file', 'Bearer eyJhbGciOiJub25lIn0.s3cret.']],
    [['check', ...ledger, 'eyJhbGciOiJub25lIn0.s3cret.']],
    [['eyJhbGciOiJub25lIn0.s3cret.']],
    [['check', ...ledger, '--party', 'Bearer eyJhbGciOiJub25lIn0.s3cret.']],
    [['project', ...ledger, 'postgres://user:s3cret@host/db']],
    [['project', ...ledger, 'postgres://user:p/w@ s. s3cret@host/db']],
    [['project', ...ledger, 'postgres://host/db?user=me&password=s3cret']],
    [['project', ...ledger, '--database', 'postgres://x/y', '--schema', "postgres://:it's3cret@host/db"]],
    [['project', ...ledger, '--database', 'mysql://u:s3cret@x/y']],
    [['postgres://user:s3cret@host/db']],
    [['postgres://user@server:s3cret@host/db']],
    [['host=127.0.0.1 password=s3cret']],
  ])('do not show a secret in them: %j', async (line) => {
    const { code, out, err } = runCli(line);

    expect(await code).toBe(2);
    expect(out.text() + err.text()).not.toContain('s3cret');
  });

  it('show what else is in the URL of a database', async () => {
    const { code, err } = runCli(['project', ...ledger, 'postgres://user:s3cret@host:5432/db']);

    expect(await code).toBe(2);
    expect(err.text()).toBe(
      "canton-rx: unexpected argument 'postgres://user:(password)@host:5432/db': did you mean --database?\n",
    );
  });

  it.each(['', '  ', 's3cret with blanks', 's3cret\nmore'])('refuse an invalid token: %j', async (token) => {
    const { code, err } = runCli(['tail', ...ledger], {
      env: { CANTON_RX_LEDGER_TOKEN: token, CANTON_RX_LEDGER_URL: 'x' },
    });

    // an empty variable counts as missing; then the ledger cannot be reached
    expect(await code).toBe(token === '' ? 3 : 2);
    expect(err.text()).not.toContain('s3cret');
  });
});

describe('options that need no ledger', () => {
  it.each([
    [['--help'], 'canton-rx tail '],
    [['-h'], 'canton-rx sandbox'],
    [['check', '--help'], 'Exit codes: 0 no problems'],
    [['demo', '-h'], 'watch a feed and two signed submissions'],
    [['help'], 'canton-rx tail '],
    [['help', 'replay'], '--out FILE'],
    [['tail', '--ledger', 'nonsense', '--help'], '--token-file FILE'],
  ])('%j prints help', async (line, expected) => {
    const { code, out, err } = runCli(line);

    expect(await code).toBe(0);
    expect(out.text()).toContain(expected);
    expect(err.text()).toBe('');
  });

  it.each(['--version', '-v', '-V'])('%s prints the version in package.json', async (option) => {
    const { code, out } = runCli([option]);

    expect(await code).toBe(0);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(out.text()).toBe(`${version}\n`);
  });

  const updateOptions = 'ledger token-file party template effects variant synchronizer from to';
  it.each([
    ['check', 'ledger token-file party json'],
    ['tail', `${updateOptions} json pretty websocket`],
    ['contracts', 'ledger token-file party template at follow json pretty websocket'],
    ['replay', `${updateOptions} out`],
    ['project', 'ledger token-file party template database schema exercises keep-archived log-every'],
    ['sandbox', 'port profile updates rate seed participant-id contend token-file cors allow-origin'],
  ])('the help of %s has a usage line, options and examples, of at most 96 columns', async (command, options) => {
    const { code, out } = runCli([command, '--help']);
    await code;

    expect(out.text()).toContain(`\nUsage: canton-rx ${command}`);
    expect(out.text()).toMatch(new RegExp(`\nExamples?:\n  canton-rx ${command}`));
    expect(out.text().endsWith('\n\n')).toBe(false);
    for (const option of options.split(' ')) expect(out.text()).toContain(`--${option} `);
    expect(out.text()).not.toMatch(/^.{97}/m);
  });
});

describe('suggest', () => {
  const commands = ['check', 'contracts', 'tail', 'replay', 'project', 'sandbox', 'demo'];

  it.each([
    ['tial', 'tail'],
    ['tai', 'tail'],
    ['tails', 'tail'],
    ['contract', 'contracts'],
    ['cont', 'contracts'],
    ['reply', 'replay'],
    ['sand', 'sandbox'],
    ['Check', 'check'],
  ])('finds the candidate for %s: %s', (text, expected) => {
    expect(suggest(text, commands)).toBe(expected);
  });

  it.each(['', 'x', 'frobnicate', 'http://127.0.0.1:7575', 'constructor'])('finds none for %j', (text) => {
    expect(suggest(text, commands)).toBeUndefined();
  });

  it('prefers the most similar candidate', () => {
    expect(suggest('tail', ['mail', 'tail'])).toBe('tail');
  });
});
