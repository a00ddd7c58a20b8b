import { describe, expect, it } from '@jest/globals';
import { createReport, formatReport } from '../../../src/cli/check/check.js';
import { cantonError } from '../../../src/sandbox/index.js';
import { runCli } from '../runCli.js';
import { sandboxWith } from './runCheck.js';

describe('the report', () => {
  it('has a line with a mark, a name and a text for each finding, and the next step below it', async () => {
    const sandbox = await sandboxWith();
    // at both paths, and for the WebSocket
    sandbox.fault(
      { kind: 'status', status: 403, body: cantonError('PERMISSION_DENIED') },
      { path: /updates(?:\/flats)?$/, times: 3 },
    );
    const { code, out } = runCli(['check', '--ledger', sandbox.url]);

    expect(await code).toBe(5);
    expect(out.text()).toMatch(
      /^canton-rx \d+\.\d+\.\d+, Node\.js [\d.]+, \w+ \w+, [\dT:.-]+Z\nledger: http, port \d+, this machine\n\n/,
    );
    expect(out.text()).toMatch(/^✓ version {8}3\.5\.19$/m);
    expect(out.text()).toMatch(/^✗ updates {8}the user of the token .*\n {17}→ choose a party with --party PARTY$/m);
    expect(out.text()).toMatch(/^[✓–] WebSocket {6}/m);
    expect(out.text()).toMatch(/\n1 of 14 checks failed \(exit code 5\)\n$/);
  });

  it.each([undefined, 'wrong'])('names a 401 once, with the token %j', async (token) => {
    const sandbox = await sandboxWith({ checkToken: (given) => given === 'right' });
    const env = token === undefined ? {} : { CANTON_RX_LEDGER_TOKEN: token };
    const { code, out } = runCli(['check', '--ledger', sandbox.url], { env });

    expect(await code).toBe(5);
    expect(out.text().match(/\(401\)/g)).toHaveLength(1);
    expect(out.text().match(/^✗/gm)).toHaveLength(1);
    expect(out.text()).toMatch(
      /^– not checked {2}participant, ledger end, pruned, synchronizers, updates, page\n +limit: they require an accepted token$/m,
    );
    expect(out.text()).not.toContain('unknown without');
  });

  it('does not contain the host', async () => {
    const { code, out } = runCli(['check', '--ledger', 'http://corp-ledger.invalid/prefix']);

    expect(await code).toBe(3);
    expect(out.text()).toContain('ledger: http, port 80, another host, with a path prefix');
    expect(out.text()).not.toContain('corp');
  });

  it('counts a warning, which is not a failure', () => {
    const finding = { id: 'encryption', label: 'encryption', state: 'warned', text: 'plain', next: 'do' } as const;
    const report = createReport('http://corp-ledger.invalid', [finding]);

    expect(report.exitCode).toBe(0);
    expect(formatReport(report, 80, (_, text) => text)).toMatch(
      /\n! encryption {2}plain\n {14}→ do\n\nno failures, 1 warning\n$/,
    );
  });
});
