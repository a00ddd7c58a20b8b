import { describe, expect, it } from '@jest/globals';
import { concatMap, defer, delay, throwError } from 'rxjs';
import { createLedger, type HttpPort, type Transaction } from '../../src/index.js';
import { createSandbox } from '../../src/sandbox/index.js';
import { submitPath } from '../helpers/CommandService.js';
import { observe, type Observed } from '../helpers/observe.js';
import { runVirtually } from '../helpers/virtualTime.js';

// Before an attempt, the ledger is read. That takes longer than the time for the recovery, or the process was stopped meanwhile.

const commandId = 'payment-4711';
const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const [slowMs, usualMs] = [4_000, 100];

/** Submits a command whose first answer is lost. What is read from then on is slow. */
function submit(isCommitted: boolean): { readonly seen: Observed<Transaction>; readonly commits: number } {
  const sandbox = createSandbox();
  const alice = sandbox.hostedParty('alice');
  const createArguments = { owner: alice, amount: '10.0', tag: null, serial: '1' };
  const command = { CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } };
  let isLost = false;
  const port: HttpPort = (request) =>
    defer(() => {
      const answer$ = sandbox.port(request);
      const isSubmission = request.url.endsWith(submitPath);
      if (isSubmission && !isLost) {
        isLost = true;
        const lost$ = throwError(() => lost);
        return isCommitted ? answer$.pipe(concatMap(() => lost$)) : lost$;
      }
      const isSlow = isLost && !isSubmission && !request.url.endsWith('/update-by-offset');
      return answer$.pipe(delay(isSlow ? slowMs : usualMs));
    });
  const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
  const request = { commandId, userId: 'app', actAs: [alice], commands: [command] } as const;
  let seen: Observed<Transaction> | undefined;
  runVirtually(() => {
    sandbox.generate(3);
    seen = observe(ledger.submitAndWaitForTransaction(request, { recover: { withinMs: 5_000 } }));
  });
  if (seen === undefined) throw new Error('nothing was submitted');
  const commits = sandbox.updates.filter(
    (update) => 'Transaction' in update && update.Transaction.value.commandId === commandId,
  );
  return { seen, commits: commits.length };
}

describe('a submission after reads that are slower than its time', () => {
  it('has five seconds for its last attempt', () => {
    const { seen, commits } = submit(false);
    expect(seen).toMatchObject({ error: undefined, values: [{ commandId }] });
    expect(commits).toBe(1);
  });

  it('has five seconds to read the commit that it finds', () => {
    const { seen, commits } = submit(true);
    expect(seen).toMatchObject({ error: undefined, values: [{ commandId, isRepeated: true }] });
    expect(commits).toBe(1);
  });
});
