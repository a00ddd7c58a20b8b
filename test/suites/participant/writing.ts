import process from 'node:process';
import { lastValueFrom, map, toArray } from 'rxjs';
import type { Command } from '../../../src/codecs/Command.js';
import { acsDelta } from '../../../src/codecs/UpdateFormat.js';
import type { SubmittedTransaction } from '../../../src/codecs/Transaction.js';
import type { Update } from '../../../src/codecs/Update.js';
import { activeContracts } from '../../../src/contracts/index.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { LedgerOptions } from '../../../src/ledger/LedgerOptions.js';
import type { Ledger } from '../../../src/ledger/Ledger.js';

/** What the tests that write need, from the environment. `$PARTY` in the argument stands for the party. */
const {
  // without an address the suite is skipped
  CANTON_RX_LEDGER_URL: url = 'http://127.0.0.1:1',
  CANTON_RX_LEDGER_TOKEN: token,
  CANTON_RX_LEDGER_WRITES: writes,
  CANTON_RX_LEDGER_PARTY: party = '',
  CANTON_RX_LEDGER_USER: user,
  CANTON_RX_LEDGER_TEMPLATE: template = '#sandbox-assets:Main:Asset',
  CANTON_RX_LEDGER_ARGUMENT: argument = '{"owner": "$PARTY", "amount": "10.0", "serial": "1"}',
  CANTON_RX_LEDGER_EXPIRED_TOKEN: expiredToken,
} = process.env;

/** Whether the tests that write run: only if they are asked for. */
export const isWriting = writes === '1' && process.env['CANTON_RX_LEDGER_URL'] !== undefined;
if (isWriting && party === '')
  throw new Error('CANTON_RX_LEDGER_WRITES needs CANTON_RX_LEDGER_PARTY: a party for which the token can act');

export { expiredToken, party, token, url, user };

/** The updates of the party. */
export const updateFormat = acsDelta({ parties: [party] });

/** A client, by default of the participant itself, that gives up after a minute. */
export const connect = (options: Partial<LedgerOptions> = {}): Ledger =>
  createLedger({
    baseUrl: url,
    token,
    retry: { baseDelayMs: 50, maxDelayMs: 500, giveUpAfterMs: 60_000 },
    ...options,
  });

/** The contracts of a test, which it archives when it has ended. */
export class Contracts {
  readonly #ids = new Set<string>();
  readonly #ledger = connect();

  /** Creates a contract. Returns its id. */
  async create(): Promise<string> {
    const createArguments = JSON.parse(argument.replaceAll('$PARTY', party)) as object;
    const { events } = await this.#submit({ CreateCommand: { templateId: template, createArguments } });
    const [contractId = ''] = events.flatMap((event) => (event._tag === 'CreatedEvent' ? [event.contractId] : []));
    this.#ids.add(contractId);
    return contractId;
  }

  async archive(contractId: string): Promise<void> {
    await this.#submit({
      ExerciseCommand: { templateId: template, contractId, choice: 'Archive', choiceArgument: {} },
    });
    this.#ids.delete(contractId);
  }

  /** Archives what is left. */
  async archiveAll(): Promise<void> {
    for (const contractId of this.#ids) await this.archive(contractId);
  }

  #submit(command: Command): Promise<SubmittedTransaction> {
    const commandId = `canton-rx-suite-${crypto.randomUUID()}`;
    const request = {
      commands: [command],
      actAs: [party] as const,
      commandId,
      ...(user !== undefined && { userId: user }),
    };
    return lastValueFrom(this.#ledger.submitAndWaitForTransaction(request));
  }
}

/** The updates of a range as the participant has them. */
export const updatesBetween = (beginExclusive: number, endInclusive: number): Promise<readonly Update[]> =>
  lastValueFrom(connect().updates({ beginExclusive, endInclusive, updateFormat }).pipe(toArray()));

/** The active contracts at an offset as the participant has them. */
export const contractsAt = (activeAtOffset: number): Promise<readonly string[]> =>
  lastValueFrom(
    activeContracts(connect(), { parties: [party], activeAtOffset }).pipe(
      toArray(),
      map((entries) =>
        entries.flatMap((entry) => (entry._tag === 'ActiveContract' ? [entry.createdEvent.contractId] : [])).sort(),
      ),
    ),
  );
