import { appendFileSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { defer, merge, type Observable, switchMap, timer } from 'rxjs';
import * as t from 'io-ts';
import { contractType, createLedger } from '../../../../src/index.js';
import { type Action, automate, type AutomationOptions, type Rule } from '../../../../src/automation/index.js';
import type { CheckpointStore } from '../../../../src/process/CheckpointStore.js';
import { fileStore } from '../../../../src/file/index.js';
import type { AutomationOrders } from '../automationLedger.js';
import { mark, markStore } from './marks.js';

const { ledgerUrl, party, life, storeUrl, notes, roundFile } = JSON.parse(process.argv[2] ?? '') as AutomationOrders;
const templateId = '#sandbox-assets:Main:Asset';
const Asset = contractType(
  templateId,
  t.type({ owner: t.string, amount: t.string, tag: t.union([t.string, t.undefined, t.null]), serial: t.string }),
);
const types = { asset: Asset };
type Types = typeof types;

// a slow machine must not lose every answer
const ledger = createLedger({ baseUrl: ledgerUrl, requestTimeoutMs: 1_000, retry: { baseDelayMs: 1, maxDelayMs: 50 } });

/** A rule for the contracts with its name as their tag, whose decisions and submissions are marked. */
function ruleOf(name: string, { act, ...rule }: Partial<Rule<Types>> & Pick<Rule<Types>, 'act'>): Rule<Types> {
  return {
    name,
    query: { types, parties: [party] },
    actAs: [party],
    userId: 'app',
    where: ({ payload }) => payload.tag === name && payload.owner === party,
    act: (contract, context) => {
      mark('a');
      return act(contract, context);
    },
    ...rule,
  };
}

const exercise = (contractId: string, choice: string, choiceArgument: object = {}) => ({
  ExerciseCommand: { templateId, contractId, choice, choiceArgument },
});

/** The life that submits is in the transaction. */
const request = (...commands: readonly object[]): Action => ({ commands, workflowId: `life ${life}` }) as Action;

const archive = ruleOf('archive', { act: ({ contractId }) => request(exercise(contractId, 'Archive')) });

const transfer = ruleOf('transfer', {
  consumes: true,
  // decides later
  act: ({ contractId }) =>
    timer(Math.random() * 40).pipe(
      switchMap(() => [request(exercise(contractId, 'Transfer', { newOwner: party.replace('alice', 'bob') }))]),
    ),
});

/** Its contracts stay; what it creates shows that it has acted. */
const receipt = ruleOf('receipt', {
  done: ({ payload: { serial } }, contracts) =>
    contracts.toArray().some((other) => other._tag === 'Contract' && other.payload.tag === `of ${serial}`),
  act: ({ contractId, payload: { serial } }) =>
    request(exercise(contractId, 'Touch'), {
      CreateCommand: { templateId, createArguments: { owner: party, amount: '0.0', tag: `of ${serial}`, serial } },
    }),
});

/** The amount is the time. */
const later = ruleOf('later', {
  dueAt: ({ payload }) => new Date(Number(payload.amount)),
  act: ({ contractId }) => request(exercise(contractId, 'Archive')),
});

/** Acts once in each round, and nothing but the store remembers it. */
const fee = ruleOf('fee', {
  round: () => readFileSync(roundFile, 'utf8'),
  act: ({ contractId }) => request(exercise(contractId, 'Touch')),
});

const options: AutomationOptions = {
  retry: { baseDelayMs: 10, maxDelayMs: 200 },
  submit: (submitted) => {
    const transaction$ = ledger.submitAndWaitForTransaction(submitted);
    return defer(() => {
      mark('w');
      return timer(Math.random() * 5).pipe(switchMap(() => transaction$));
    });
  },
};

function markedFileStore(folder: string): CheckpointStore {
  const store = fileStore(folder);
  return { ...store, ...markStore(store) };
}

const run = (rule: Rule<Types>, more: AutomationOptions = {}): Observable<unknown> =>
  automate(ledger, rule, { ...options, ...more });

const rules =
  storeUrl === ''
    ? [archive, transfer, receipt, later].map((rule) => run(rule))
    : [run(fee, { store: markedFileStore(storeUrl) })];

merge(...rules).subscribe({
  next: (acted) => {
    mark('k');
    appendFileSync(
      notes,
      `${JSON.stringify({ life, round: readFileSync(roundFile, 'utf8'), ...(acted as object) })}\n`,
    );
  },
  error: (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
  complete: () => process.exit(1),
});
