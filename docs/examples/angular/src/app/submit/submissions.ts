import { DestroyRef, inject, Injectable, signal } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { webCryptoSigner, type Command, type Diagnostic, type Transaction } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';
import { concatMap, defer, filter, finalize, forkJoin, fromEvent, type Observable } from 'rxjs';
import { SandboxControl } from '../sandbox/sandbox-control';
import { numeral } from '../shell/numbers';
import type { Identity } from './identity';
import { Identities } from './identities';
import { outcomeOf } from './outcome-of';
import type { Outcome, Run } from './run';
import { stepOf } from './step-of';

/** The submissions of this page, the newest first. They continue when their panel is closed. */
@Injectable()
export class Submissions {
  readonly #ledger = injectLedger();
  readonly #identities = inject(Identities);
  readonly #control = inject(SandboxControl);
  readonly #destroyed = inject(DestroyRef);
  readonly runs = signal<readonly Run[]>([]);

  constructor() {
    // warns before the page is left, since the outcome of a running submission would be lost
    fromEvent<BeforeUnloadEvent>(window, 'beforeunload')
      .pipe(
        filter(() => this.runs().some(({ outcome }) => outcome === undefined)),
        takeUntilDestroyed(),
      )
      .subscribe((event) => event.preventDefault());
  }

  submit(title: string, command: Command, identity: Identity): void {
    const commandId = `explorer-${crypto.randomUUID()}`;
    const startedAt = Date.now();
    this.runs.update((runs) => [{ commandId, title, startedAt, steps: [] }, ...runs].slice(0, 20));
    const told = this.#tell(commandId, startedAt);
    this.#submitted(commandId, command, identity)
      .pipe(
        finalize(() => told.unsubscribe()),
        takeUntilDestroyed(this.#destroyed),
      )
      .subscribe({
        next: ({ offset }) =>
          this.#end(commandId, { kind: 'committed', text: `Committed at ${numeral(offset)}.`, offset }),
        error: (error: unknown) => this.#end(commandId, outcomeOf(error)),
      });
  }

  #submitted(commandId: string, command: Command, identity: Identity): Observable<Transaction> {
    // loaded with the first submission: with its protobuf messages the verifier has half a megabyte
    const verifier$ = defer(() => import('canton-rx/verify'));
    return forkJoin([verifier$, defer(() => this.#hosted(identity))]).pipe(
      concatMap(([{ preparedTransactionVerifier }]) =>
        this.#ledger.submit({ commandId, actAs: [identity.party], commands: [command] }, webCryptoSigner(identity), {
          verify: preparedTransactionVerifier(),
        }),
      ),
    );
  }

  async #hosted(identity: Identity): Promise<Identity> {
    await this.#identities.host(identity);
    return identity;
  }

  /** Adds the steps of one submission to its run. They have the submission id with which it was prepared. */
  #tell(commandId: string, startedAt: number) {
    let submissionId = '';
    const isOurs = (event: Diagnostic): boolean => {
      if (event._tag === 'SubmissionPrepared' && event.commandId === commandId) submissionId = event.submissionId;
      return 'submissionId' in event && event.submissionId === submissionId;
    };
    return this.#ledger.diagnostics$.pipe(filter(isOurs)).subscribe((event) => {
      const step = stepOf(event, startedAt);
      if (event._tag === 'SubmissionUnclear') this.#control.willLose.set(false);
      if (step !== undefined) this.#change(commandId, (run) => ({ ...run, steps: [...run.steps, step] }));
    });
  }

  #end(commandId: string, outcome: Outcome): void {
    this.#change(commandId, (run) => ({ ...run, outcome }));
  }

  #change(commandId: string, change: (run: Run) => Run): void {
    this.runs.update((runs) => runs.map((run) => (run.commandId === commandId ? change(run) : run)));
  }
}
