import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, map, type Observable, take, throwError, toArray } from 'rxjs';
import {
  type Acted,
  type ActionRequest,
  automate,
  type AutomationOptions,
  type Rule,
} from '../../src/automation/index.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { PrunedError } from '../../src/errors/feed.js';
import { OutcomeUnknownError } from '../../src/errors/LedgerError.js';
import { type Submission, SubmissionRejectedError } from '../../src/errors/submission.js';
import type { Ledger, SubmittedTransaction } from '../../src/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { memoryStore } from '../../src/process/index.js';
import { cantonError } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';

const start = sandboxes();
const templateId = '#sandbox-assets:Main:Asset';
const submissions = '/v2/commands/submit-and-wait-for-transaction';

/** A ledger with a contract, and a rule that exercises a choice on it. */
async function setUp(choice: 'Archive' | 'Touch', more: Partial<Rule> = {}) {
  const sandbox = await start({ defaultDeduplicationMs: 0 });
  const alice = sandbox.hostedParty('alice');
  const create = () =>
    sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: { signatories: [alice] } }] } } });
  create();
  const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 1 } });
  const act = ({ contractId }: { readonly contractId: string }) => ({
    ExerciseCommand: { templateId, contractId, choice, choiceArgument: {} },
  });
  const rule: Rule = { name: 'rule', query: { parties: [alice] }, actAs: [alice], userId: 'app', act, ...more };
  const options: AutomationOptions = { retry: { baseDelayMs: 1, maxDelayMs: 5 } };
  return { sandbox, create, ledger, rule, options };
}

const tags = map(({ _tag }: Acted) => _tag);

/** Submits over a ledger, but for the first time. */
function failingOnce(ledger: Ledger, errorOf: (submission: Submission) => Error) {
  let count = 0;
  return (request: ActionRequest): Observable<SubmittedTransaction> => {
    count += 1;
    const { commandId, actAs } = request;
    const submission = { submissionId: '1', commandId, userId: 'app', actAs, sentAt: 0, since: 0, attempts: 1 };
    return count > 1 ? ledger.submitAndWaitForTransaction(request) : throwError(() => errorOf(submission));
  };
}

describe('a rule over a participant that is pruned', () => {
  it('resumes with a store after an action that neither creates nor archives', async () => {
    const { ledger, rule, options } = await setUp('Touch');
    const store = memoryStore();
    await firstValueFrom(automate(ledger, rule, { ...options, store }));
    const again = automate(ledger, { ...rule, round: () => '2' }, { ...options, store });
    expect(await firstValueFrom(again.pipe(tags))).toBe('Committed');
  });

  it('decides again if the contracts lag the pruned offset, and done may show an action before it', async () => {
    let decisions = 0;
    const { sandbox, create, ledger, rule, options } = await setUp('Touch', {
      done: () => {
        decisions += 1;
        return false;
      },
    });
    const context = { earliest_offset: String(sandbox.ledgerEnd + 1) };
    const refusal = new ApiError({
      path: submissions,
      status: 400,
      canton: {
        ...cantonError('INVALID_DEDUPLICATION_PERIOD', { context }),
        correlationId: '',
        traceId: '',
        grpcCodeValue: 9,
        retryInfo: '',
        definiteAnswer: true,
      },
    });
    const submit = failingOnce(ledger, (submission) => new SubmissionRejectedError(refusal, submission));
    const acting = firstValueFrom(automate(ledger, rule, { ...options, submit }).pipe(tags));
    await until(() => decisions > 0);
    expect(decisions).toBe(1);
    create();
    expect(await acting).toBe('Committed');
    expect(decisions).toBeGreaterThan(1);
  });

  it.each([
    ['decides again on an action that archives its contract', 'Archive' as const, ['Failed', 'Committed']],
    ['gives up another action, and acts in the next round', 'Touch' as const, ['Failed', 'Committed']],
  ])('%s, when an outcome is lost', async (_, choice, expected) => {
    let round = 1;
    const { create, ledger, rule, options } = await setUp(choice, {
      where: ({ offset }) => offset === 1,
      round: () => String(round),
    });
    const pruned = new PrunedError('/v2/updates', 5);
    const submit = failingOnce(ledger, (submission) => new OutcomeUnknownError(submission, pruned));
    const acted$ = automate(ledger, rule, { ...options, submit });
    const acting = lastValueFrom(acted$.pipe(take(2), toArray()));
    const failed = await firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'ActionFailed')));
    expect('retryAt' in failed).toBe(choice === 'Archive');
    if (choice === 'Touch') {
      round = 2;
      create();
    }
    const acted = await acting;
    expect(acted.map(({ _tag }) => _tag)).toEqual(expected);
    expect(acted[1]).toMatchObject({ transaction: { commandId: expect.stringMatching(round === 2 ? /:2$/ : /:1$/) } });
  });
});
