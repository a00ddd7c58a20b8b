import { Inject, Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { exercise, type Ledger, type Signer } from 'canton-rx';
import { automate, type Automation, type AutomationOptions } from 'canton-rx/automation';
import { preparedTransactionVerifier } from 'canton-rx/verify';
import { concatMap, defer } from 'rxjs';
import type { Environment } from '../config/environment.js';
import { types } from '../contracts/types.js';
import { LEDGER } from '../ledger/ledger.js';
import { keySigner } from '../submissions/key-signer.js';

/** The tag of assets that expire. */
const temporary = 'temporary';

/**
 * A rule: archives each temporary asset of the service's party some time after its creation. Several processes may run it,
 * since the ledger commits each action once. main.ts runs it.
 */
@Injectable()
export class Expiry {
  /** Empty without a party. */
  readonly rules: readonly Automation[];

  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    private readonly config: ConfigService<Environment, true>,
  ) {
    const party = config.get('PARTY', { infer: true });
    this.rules = party === undefined ? [] : [this.ruleFor(party)];
  }

  private ruleFor(party: string): Automation {
    const lifeMs = this.config.get('TEMPORARY_MS', { infer: true });
    return automate(
      this.ledger,
      {
        name: 'expire-assets',
        query: { types: { asset: types.asset }, parties: [party] },
        actAs: [party],
        userId: this.config.get('LEDGER_USER', { infer: true }),
        where: ({ payload }) => payload.owner === party && payload.tag === temporary,
        dueAt: ({ createdAt }) => new Date(Date.parse(createdAt) + lifeMs),
        act: ({ contractId }) => exercise(types.asset.Archive, contractId, {}),
      },
      this.signing(party),
    );
  }

  /** With a key, the service verifies and signs. Without one, the participant hosts the party and signs. */
  private signing(party: string): Pick<AutomationOptions, 'submit'> {
    const file = this.config.get('PARTY_KEY_FILE', { infer: true });
    if (file === undefined) return {};
    const verify = preparedTransactionVerifier();
    const signer: Signer = {
      party,
      sign: (hash) => defer(() => keySigner(party, file)).pipe(concatMap((key) => key.sign(hash))),
    };
    return {
      submit: ({ commandId, actAs, commands, deduplicationPeriod }) =>
        this.ledger.submit({ commandId, actAs, commands }, signer, { verify, deduplicationPeriod }),
    };
  }
}
