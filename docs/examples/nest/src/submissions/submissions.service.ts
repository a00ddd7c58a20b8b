import { Inject, Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { create, exercise, type Command, type Ledger, type Transaction } from 'canton-rx';
import { preparedTransactionVerifier } from 'canton-rx/verify';
import { catchError, concatMap, defer, type Observable } from 'rxjs';
import type { Environment } from '../config/environment.js';
import type { StoredContract } from '../contracts/stored-contract.js';
import { types } from '../contracts/types.js';
import { LEDGER } from '../ledger/ledger.js';
import { keySigner } from './key-signer.js';
import { noKey, submissionFailed } from './submission-failed.js';

/** What a client says of a new asset; its owner is the party of the service. */
export interface NewAsset {
  readonly amount: string;
  readonly tag: string | null;
}

/** Submits for the party of the service. */
@Injectable()
export class SubmissionsService {
  private readonly verify = preparedTransactionVerifier();

  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    private readonly config: ConfigService<Environment, true>,
  ) {}

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
    if (party === undefined || file === undefined) throw noKey();
    return defer(() => keySigner(party, file)).pipe(
      concatMap((signer) =>
        this.ledger.submit({ commandId, actAs: [party], commands: [commandOf(party)] }, signer, {
          verify: this.verify,
          recover: { withinMs: 20_000 },
        }),
      ),
      catchError(submissionFailed),
    );
  }
}
