import { Inject, Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { create, exercise } from 'canton-rx';
import type { Command, CommandsRequest, Ledger, PrepareRequest, SubmittedTransaction, Transaction } from 'canton-rx';
import { preparedTransactionVerifier } from 'canton-rx/verify';
import { catchError, concatMap, defer, type Observable } from 'rxjs';
import type { Environment } from '../config/environment.js';
import type { StoredContract } from '../contracts/stored-contract.js';
import { types } from '../contracts/types.js';
import { LEDGER } from '../ledger/ledger.js';
import { keySigner } from './key-signer.js';
import { SentCommands } from './sent-commands.js';
import { noParty, submissionFailed } from './submission-failed.js';

/** What a client says of a new asset; its owner is the party of the service. */
export interface NewAsset {
  readonly amount: string;
  readonly tag: string | null;
}

/** Submits for the party of the service: signed with its key, or without one by the participant, which hosts the party. */
@Injectable()
export class SubmissionsService {
  private readonly verify = preparedTransactionVerifier();
  private readonly recover: { readonly withinMs: number };

  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    private readonly sent: SentCommands,
    private readonly config: ConfigService<Environment, true>,
  ) {
    this.recover = { withinMs: config.get('SUBMIT_WITHIN_MS', { infer: true }) };
  }

  createAsset(asset: NewAsset, commandId: string): Observable<Transaction> {
    return this.submit((owner) => create(types.asset, { ...asset, owner, serial: '0' }), commandId);
  }

  archive({ type, contractId }: StoredContract, commandId: string): Observable<Transaction> {
    return this.submit(() => exercise(types[type ?? 'asset'].Archive, contractId, {}), commandId);
  }

  /** The ledger commits a command id once: who sends a request again with the same one cannot create two contracts. */
  private submit(commandOf: (party: string) => Command, commandId: string): Observable<Transaction> {
    const party = this.config.get('PARTY', { infer: true });
    const file = this.config.get('PARTY_KEY_FILE', { infer: true });
    if (party === undefined) throw noParty();
    const request = { commandId, actAs: [party], commands: [commandOf(party)] } as const;
    const transaction$ = file === undefined ? this.submitHosted(request) : this.submitSigned(request, party, file);
    return transaction$.pipe(catchError(submissionFailed));
  }

  private submitSigned(request: PrepareRequest, party: string, file: string): Observable<SubmittedTransaction> {
    const { verify, recover } = this;
    return defer(() => keySigner(party, file)).pipe(
      concatMap((signer) => this.ledger.submit(request, signer, { verify, recover })),
    );
  }

  private submitHosted(request: CommandsRequest & { readonly commandId: string }): Observable<SubmittedTransaction> {
    const { recover } = this;
    const userId = this.config.get('LEDGER_USER', { infer: true });
    return this.sent.submit(request.commandId, (options) =>
      this.ledger.submitAndWaitForTransaction({ ...request, userId }, { ...options, recover }),
    );
  }
}
