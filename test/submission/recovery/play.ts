import { asyncScheduler, delay, type Observable, of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { Transaction } from '../../../src/codecs/Transaction.js';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { scriptedService } from '../../helpers/scripted.js';
import { submittedHash, VirtualParticipant } from '../../helpers/virtualSubmission.js';
import { randomFrom } from '../../suites/campaign/runs.js';
import { signedRequest } from '../support.js';
import type { Schedule } from './Schedule.js';

/** A subscription, and when it started. */
export interface ObservedSubscription extends Observed<Transaction> {
  readonly startedAt: number;
}

/** The outcome of a schedule. */
export interface Outcome {
  readonly schedule: Schedule;
  readonly participant: VirtualParticipant;
  readonly subscriptions: readonly ObservedSubscription[];
  /** Requests and timers that are left at the end. */
  readonly leaks: readonly string[];
}

const hour = 3_600_000;

/** Runs a schedule in virtual time, until an hour after its last subscription. */
export function play(schedule: Schedule): Outcome {
  const scheduler = new TestScheduler(() => undefined);
  const random = Math.random;
  Math.random = randomFrom(schedule.jitter);
  try {
    return scheduler.run(({ flush }) => {
      const participant = new VirtualParticipant(schedule);
      const subscriptions: ObservedSubscription[] = [];
      const leaks: string[] = [];
      const service = scriptedService(participant.reply);
      const { requestTimeoutMs, withinMs, period, hasFreshTokens, tokenMs, unsubscribeAtMs } = schedule;
      let tokens = 0;
      const token = (): Observable<string> => {
        const tookMs = tokenMs[Math.min(tokens, tokenMs.length - 1)] ?? 0;
        tokens += 1;
        const text = `token-${hasFreshTokens === true ? tokens : 0}`;
        return tookMs === 0 ? of(text) : of(text).pipe(delay(tookMs));
      };
      const client = createLedger({
        baseUrl: 'http://ledger.example',
        port: service.port,
        requestTimeoutMs,
        ...(hasFreshTokens !== null && { token }),
      });
      client.diagnostics$.subscribe();
      const transaction$ = client.executeAndWaitForTransaction(
        { ...signedRequest, deduplicationPeriod: period },
        {
          recover: withinMs === null ? false : { withinMs },
          ...(schedule.knowsHash && { transactionHash: submittedHash.toString('base64') }),
        },
      );
      // not with a timer of RxJS, which would itself count as left
      const at = (ms: number, work: () => void): void => {
        scheduler.schedule(work, ms);
      };
      for (const ms of schedule.othersAtMs)
        at(ms, () => {
          participant.commitOthers(3);
        });
      for (const ms of [0, ...schedule.subscribeAtMs])
        at(ms, () => {
          subscriptions.push(Object.assign(observe(transaction$), { startedAt: asyncScheduler.now() }));
        });
      if (unsubscribeAtMs !== null)
        at(unsubscribeAtMs, () => {
          for (const { subscription } of subscriptions) subscription.unsubscribe();
          if (service.open > 0) leaks.push('a request is open after unsubscribing');
        });
      at(Math.max(0, ...schedule.subscribeAtMs) + hour, () => {
        if (service.open > 0) leaks.push('a request is open after an hour');
        if (scheduler.actions.length > 0) leaks.push(`${scheduler.actions.length} timers are left`);
      });
      flush();
      return { schedule, participant, subscriptions, leaks };
    });
  } finally {
    Math.random = random;
  }
}

/** The name of how a subscription ended. */
export const endOf = ({ values, error }: ObservedSubscription): string => {
  if (values.length > 0) return 'Transaction';
  return isLedgerError(error) ? error._tag : 'unsubscribed';
};
