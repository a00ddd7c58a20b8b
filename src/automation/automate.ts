import { concat, defer, EMPTY, finalize, isObservable, map, type Observable, repeat, tap, timer } from 'rxjs';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { ContractTypes } from '../contracts/Contract.js';
import { openView } from '../contracts/openView.js';
import type { DiagnosticBody } from '../diagnostics/Diagnostic.js';
import { readContractEvents } from '../feed/contractEvents.js';
import { checkNotNegative, checkPositive } from '../codecs/internal/numbers.js';
import { retryPolicy, type RetryPolicy } from '../http/retry.js';
import { clientOf } from '../ledger/clientOf.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { CheckpointStore, TransactionalStore } from '../process/CheckpointStore.js';
import { endAtStop, Stopper } from '../process/Stop.js';
import { withStatus } from '../process/withStatus.js';
import { submittedBy } from '../submission/submitter.js';
import { Places } from '../dispatch/Places.js';
import { Agenda } from './Agenda.js';
import { type Automation, noTally, type RunState, statusOf, tallyOf } from './AutomationStatus.js';
import { Effects } from './Effects.js';
import { type Memory, noMemory } from './Memory.js';
import { whileElected, type Work } from './whileElected.js';
import type { Acted, ActionRequest, Rule } from './Rule.js';
import type { RuleRun } from './submit.js';
import { workOn } from './work.js';

/**
 * Options of {@link automate}.
 *
 * @category Automation
 */
export interface AutomationOptions {
  /**
   * The maximum number of contracts that are acted on at the same time.
   *
   * @defaultValue 4
   */
  readonly concurrency?: number | undefined;
  /**
   * Elects one of several processes with the same rule name: it acts, and the others wait. It also remembers the actions that do
   * not archive their contract. Default: none. Several processes may then act at the same time. The ledger commits each
   * action once, and refuses the others.
   */
  readonly store?: CheckpointStore | TransactionalStore<unknown> | undefined;
  /**
   * Submits a request, for example with the keys of an external party. It must pass on `commandId` and `deduplicationPeriod`.
   * Default: `ledger.submitAndWaitForTransaction`.
   */
  readonly submit?: ((request: ActionRequest) => Observable<SubmittedTransaction>) | undefined;
  /**
   * The delays after an action that failed, and the pauses while the participant is overloaded. `giveUpAfterMs` limits only the
   * retries of the store.
   *
   * @defaultValue from 1000 ms, doubling up to 300000 ms
   */
  readonly retry?: RetryPolicy | undefined;
  /**
   * How long `act` may take to decide, in milliseconds.
   *
   * @defaultValue 30000
   */
  readonly actTimeoutMs?: number | undefined;
  /** Stops the rule: it begins nothing, and completes when what is in progress has ended. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long submissions in progress may take after `signal`, in milliseconds. After that they are abandoned; another run of the
   * rule determines their outcome.
   *
   * @defaultValue 10000
   */
  readonly stopWithinMs?: number | undefined;
}

/**
 * Acts on contracts: whenever a contract of the rule's query is active, selected and due, calls `act` and submits what it
 * returns. Emits the outcome of each action, and has its status in `status$`. Cold and endless: it is one run, which all subscriptions
 * at the same time share, and which ends at once when the last of them unsubscribes.
 *
 * What there is to do follows from the active contracts, so nothing is forgotten, whenever the process starts. The command id
 * follows from the name of the rule, the contract and the round, so the ledger commits each action once, over any crash,
 * restart or second process. See {@link Rule} for actions that do not archive their contract.
 *
 * Nothing is begun while the view of the contracts is not live. An action that fails concerns its contract alone: it is tried
 * again after a delay that grows. If the participant lacks traffic or is overloaded, the rule pauses.
 *
 * Fails only with the permanent errors of `liveContracts`, and with the errors of the store: a `StoreError`, or a `CursorError`
 * if the ledger was replaced since the actions were saved.
 *
 * @throws TypeError for an invalid rule or option, synchronously
 * @throws InvalidRequestError for an invalid party, synchronously
 * @example
 * ```ts
 * import { contractType, createLedger, exercise } from 'canton-rx';
 * import { automate } from 'canton-rx/automation';
 * import * as t from 'io-ts';
 *
 * const Offer = contractType('#shop:Main:Offer', t.type({ price: t.string }), {
 *   choices: { Accept: { argument: t.type({}) } },
 * });
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const accepting = automate(ledger, {
 *   name: 'accept-offers',
 *   query: { types: { offer: Offer }, parties: ['alice::1220ab'] },
 *   actAs: ['alice::1220ab'],
 *   where: ({ payload }) => Number(payload.price) <= 100,
 *   act: ({ contractId }) => exercise(Offer.Accept, contractId, {}),
 * }).subscribe((acted) => {
 *   console.log(acted._tag, acted.contractId);
 * });
 * accepting.unsubscribe();
 * ```
 *
 * @category Automation
 */
export function automate<M extends ContractTypes>(
  ledger: Ledger,
  rule: Rule<M>,
  options: AutomationOptions = {},
): Automation {
  return ruleRun(ledger, rule as unknown as Rule, options);
}

function ruleRun(ledger: Ledger, rule: Rule, options: AutomationOptions): Automation {
  const { store, signal, stopWithinMs = 10_000, concurrency = 4, actTimeoutMs = 30_000 } = options;
  const { submit = (request: ActionRequest) => ledger.submitAndWaitForTransaction(request) } = options;
  checkRule(rule);
  checkPositive({ concurrency }, true);
  checkPositive({ actTimeoutMs });
  checkNotNegative({ stopWithinMs });
  const retry = retryPolicy({ baseDelayMs: 1_000, maxDelayMs: 300_000 }, options.retry);
  const client = clientOf(ledger);
  // a rule acts for these parties
  const parties = isObservable(rule.query.parties) ? rule.actAs : rule.query.parties;
  const view$ = openView(ledger, rule.query, {}, { name: { rule: rule.name } });
  const state: RunState = { tally: noTally };
  const stopper = new Stopper(signal);
  const acted$ = defer(() => {
    const stop = stopper.begin();
    state.tally = noTally;
    const workWith: Work = (memoryOf) =>
      defer(() => {
        const memory: Memory = memoryOf((contractId) => agenda.isGone(contractId));
        const agenda = new Agenda(rule, new Places(concurrency), (contractId) => memory.hasActionsOf(contractId));
        state.agenda = agenda;
        const run: RuleRun = {
          ...{
            rule,
            agenda,
            memory,
            effects: new Effects(rule, memory, () => agenda.moves),
            retry,
            actTimeoutMs,
            stop,
          },
          readCreatedOffset: (contractId) =>
            readContractEvents(client, contractId, { parties }).pipe(map(({ created }) => created?.offset)),
          submit: (request, { contract: { contractId }, traceContext }) => {
            const action = { rule: rule.name, contractId, traceContext };
            return submittedBy(client, { action }, request.commandId, submit(request));
          },
        };
        return concat(workOn(run, view$, client), memory.flush());
      }).pipe(
        finalize(() => {
          state.agenda = undefined;
        }),
      );
    const worked$ =
      store === undefined ? workWith(() => noMemory) : whileElected(ledger, rule, { store, retry, state }, workWith);
    return worked$.pipe(
      // another ledger has taken the place of the first: begins again with nothing that was learned
      repeat({ delay: () => (stop.isStopped() ? EMPTY : timer(0)) }),
      tap((acted) => {
        state.tally = tallyOf(state.tally, acted);
        client.report(() => toDiagnostic(rule.name, acted));
      }),
      endAtStop(stop, () => state.agenda !== undefined, stopWithinMs),
    );
  });
  return withStatus(acted$, stopper, () => [statusOf(rule.name, state)]);
}

/** Throws a TypeError for a rule that cannot work. */
function checkRule(rule: Rule): void {
  const { name, actAs } = rule;
  // a colon would make the command ids ambiguous
  if (!/^[A-Za-z0-9_-]{1,60}$/.test(name)) throw new TypeError('name must be 1 to 60 letters, digits, - and _');
  if (!Array.isArray(actAs) || actAs.length === 0) throw new TypeError('actAs must have at least one party');
  if (typeof rule.act !== 'function') throw new TypeError('act must be a function');
}

function toDiagnostic(rule: string, acted: Acted): DiagnosticBody {
  const { contractId } = acted;
  switch (acted._tag) {
    case 'Committed': {
      const { transaction, isRepeated, createdAt } = acted;
      const { offset, updateId, recordTime } = transaction;
      const latencyMs = Date.parse(recordTime) - Date.parse(createdAt);
      return { _tag: 'ActionCommitted', rule, contractId, updateId, offset, isRepeated, latencyMs };
    }
    case 'Obsolete':
      return { _tag: 'ActionObsolete', rule, contractId };
    case 'Failed': {
      const { error, retryAt } = acted;
      return { _tag: 'ActionFailed', rule, contractId, cause: error, ...(retryAt !== undefined && { retryAt }) };
    }
  }
}
