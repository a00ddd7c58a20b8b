import { DestroyRef, inject, Injectable, signal } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { webCryptoSigner, type Command, type Diagnostic, type SubmittedTransaction } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';
import { concatMap, defer, filter, finalize, forkJoin, fromEvent, type Observable } from 'rxjs';
import { SandboxControl } from '../sandbox/sandbox-control';
import { CONNECTION, userIdOf } from '../connection/connection';
import type { HostedIdentity, Identity, SigningIdentity } from './identity';
import { Identities } from './identities';
import { committed, outcomeOf } from './outcome-of';
import type { Outcome, Run } from './run';
import { handedOver, stepOf } from './step-of';

/** The submissions of this page, the newest first. They continue when their panel is closed. */
@Injectable()
export class Submissions {
  readonly #ledger = injectLedger();
  readonly #identities = inject(Identities);
  readonly #control = inject(SandboxControl);
  readonly #userId = userIdOf(inject(CONNECTION));
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
    const steps = identity.key === undefined ? [handedOver] : [];
    this.runs.update((runs) => [{ commandId, title, startedAt, steps }, ...runs].slice(0, 20));
    const told = this.#tell(commandId, startedAt);
    const submitted$ =
      identity.key === undefined
        ? this.#submitHosted(commandId, command, identity)
        : this.#submitSigned(commandId, command, identity);
    submitted$
      .pipe(
        finalize(() => told.unsubscribe()),
        takeUntilDestroyed(this.#destroyed),
      )
      .subscribe({
        next: (transaction) => this.#end(commandId, committed(transaction)),
        error: (error: unknown) => this.#end(commandId, outcomeOf(error)),
      });
  }

  #submitSigned(commandId: string, command: Command, identity: SigningIdentity): Observable<SubmittedTransaction> {
    // loaded with the first submission: with its protobuf messages the verifier has half a megabyte
    const verifier$ = defer(() => import('canton-rx/verify'));
    return forkJoin([verifier$, defer(() => this.#hosted(identity))]).pipe(
      concatMap(([{ preparedTransactionVerifier }]) =>
        this.#ledger.submit(
          { commandId, userId: this.#userId, actAs: [identity.party], commands: [command] },
          webCryptoSigner(identity),
          { verify: preparedTransactionVerifier() },
        ),
      ),
    );
  }

  #submitHosted(commandId: string, command: Command, identity: HostedIdentity): Observable<SubmittedTransaction> {
    return defer(() => this.#hosted(identity)).pipe(
      concatMap(({ party }) =>
        this.#ledger.submitAndWaitForTransaction({
          commandId,
          userId: this.#userId,
          actAs: [party],
          commands: [command],
        }),
      ),
      // this submission was the next
      finalize(() => this.#control.willLose.set(false)),
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
