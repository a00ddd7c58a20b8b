import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { cliWorld } from '../cliWorld.js';
import { runCli } from '../runCli.js';
import { recordedResults } from './recordedConformance.js';

const given = cliWorld();

/** What a report for programs says. */
interface Report {
  readonly release?: string;
  readonly exitCode: number;
  readonly rows: readonly {
    readonly area: string;
    readonly what: string;
    readonly isNeeded: boolean;
    readonly result: string;
    readonly detail?: string;
  }[];
}

const conform = async (...options: readonly string[]) => {
  const { code, out } = given.start(['check', '--conformance', ...options]);
  return { code: await code, text: out.text() };
};

const report = async (...options: readonly string[]) => {
  const { code, text } = await conform('--json', ...options);
  const { rows, ...rest } = JSON.parse(text) as Report;
  const of = (what: string): string => {
    const row = rows.find((each) => each.what === what);
    return `${row?.result ?? 'none'}${row?.detail === undefined ? '' : ` ${row.detail}`}`;
  };
  return { code, rows, of, ...rest };
};

describe('check --conformance', () => {
  it('serves in the sandbox, and in a recorded participant of 3.5.10, what the table of the guide says', async () => {
    given.sandbox.prune(20);
    const { code, text } = await conform();
    expect(code).toBe(0);
    expect(text).toMatch(
      /^# Conformance of a participant 3\.5\.19\n\ncanton-rx \S+, \S+Z\. \d+ served, 0 differ, 0 absent, \d+ not seen/,
    );
    const recorded = recordedResults();
    const served = await report();
    expect([...recorded.keys()]).toEqual(served.rows.map(({ what }) => what));
    const guide = await readFile('docs/command-check.md', 'utf8');
    const cellsOf = (line: string): readonly string[] =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
    const table = guide.split('\n').filter((line) => /^\| (?:\w|-)+ +\| .* \| (?:served|unseen) +\|$/.test(line));
    expect(table.map(cellsOf)).toEqual(
      served.rows.map(({ area, what, isNeeded, result }) => [
        area,
        `${what}${isNeeded ? ' (needed)' : ''}`,
        recorded.get(what),
        result,
      ]),
    );
    expect(text).not.toContain(new URL(given.sandbox.url).host);
  });

  it('finds what a release lacks, and what differs', async () => {
    await given.restart({ profile: '3.6' }, 50);
    const newer = await report();
    expect(newer.code).toBe(0);
    expect(newer.of('`/v2/updates/flats`')).toBe('absent');
    expect(newer.of('`/v2/updates`')).toBe('served');
    expect(newer.of('a range, oldest first, within its bounds')).toBe('served');
    expect(newer.of('the older form: `filter` and `verbose`')).toBe('absent');

    given.sandbox.fault(
      { kind: 'status', status: 200, body: '[]' },
      { path: '/v2/state/latest-pruned-offsets', times: 100 },
    );
    expect((await report()).of('pruned offset')).toBe('differs the answer has another form');
  });

  it('fails if what the library needs is not served', async () => {
    for (const path of ['/v2/updates', '/v2/updates/flats'])
      given.sandbox.fault({ kind: 'status', status: 404 }, { path, times: 100 });
    const { code, of, exitCode } = await report();
    expect([code, exitCode]).toEqual([1, 1]);
    expect(of('a range, oldest first, within its bounds')).not.toBe('served');
  });

  it('with --write commits once, shows the commit, and leaves nothing behind', async () => {
    const { sandbox } = given;
    sandbox.uploadPackage('canton-builtin-admin-workflow-ping', { templates: ['Canton.Internal.Ping:Ping'] });
    const party = sandbox.hostedParty('alice');
    const before = sandbox.updates.length;
    const { code, rows } = await report('--write', '--party', party, '--user-id', 'app');
    expect(code).toBe(0);
    expect(rows.filter(({ area }) => area === 'writing').map(({ what, result }) => `${what}: ${result}`)).toEqual([
      'commits a submission of a hosted party: served',
      'commits a command id once: served',
      'shows the commit at its offset, by its update id: served',
      'archives the contract: served',
    ]);
    expect(sandbox.updates).toHaveLength(before + 2);
    // without a party it needs one that it allocates, which the sandbox does not serve
    expect((await report('--write')).of('allocates a party')).toMatch(/^(served|absent)$/);
  });

  it('writes nothing without --write', async () => {
    const before = given.sandbox.updates.length;
    await report();
    expect(given.sandbox.updates).toHaveLength(before);
    const methods = given.sandbox.requests.filter(({ path }) => path.includes('submit') || path.includes('execute'));
    expect(methods.every(({ status }) => status === 400)).toBe(true);
  });

  it('reports what check reports if the ledger does not answer', async () => {
    const { code, out } = runCli(['check', '--conformance', '--ledger', 'http://127.0.0.1:9']);
    expect(await code).toBe(3);
    expect(out.text()).toContain('✗ reachable');
  });

  it('takes no text of a participant into the table', async () => {
    given.sandbox.fault(
      { kind: 'status', status: 200, body: '{"version":"3.5 | <b>\\u001b[31m"}' },
      { path: '/v2/version', times: 10 },
    );
    given.sandbox.fault(
      { kind: 'status', status: 400, body: '{"code":"A|B","cause":"secret"}' },
      { path: '/v2/parties', times: 10 },
    );
    const { text } = await conform();
    expect(text).toContain('# Conformance of a participant 3.5b31m\n');
    expect(text).toContain('| service | parties | differs | 400 |');
    expect(text).not.toContain('secret');
  });
});
