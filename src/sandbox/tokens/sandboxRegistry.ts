import { concatMap, defer, map, type Observable, of, shareReplay } from 'rxjs';
import { create } from '../../codecs/Command.js';
import type { CreatableType } from '../../codecs/ContractType.js';
import type { DisclosedContract as Disclosure } from '../../codecs/SubmissionRequest.js';
import type { InstrumentId } from '../../tokens/totals.js';
import type { Sandbox } from '../Sandbox.js';
import { preapprovalKey, Rules, rulesKey, Token, tokenOf } from './Token.js';
import { Preapproval } from './transfers.js';

/**
 * Options of {@link sandboxRegistry}.
 *
 * @category Sandbox
 */
export interface SandboxRegistryOptions {
  /** The party that administers the instruments: one of `sandbox.hostedParty`. */
  readonly admin: string;
  /** The token of its requests, if the sandbox requires one. */
  readonly token?: string;
}

/**
 * The registry of an admin in a sandbox with {@link tokenTemplates}.
 *
 * @category Sandbox
 */
export interface SandboxRegistry {
  /** The party that administers the instruments. */
  readonly admin: string;
  /**
   * Answers a POST request as the HTTP API of a registry does, for `tokenCommands`: factories, and contexts of choices. An
   * Observable that fails stands for an answer with an error.
   *
   * @param path - begins with `/registry/`
   */
  readonly post: (path: string, body: unknown) => Observable<object>;
  /** Creates holdings of an owner, and emits their ids. Cold: each subscription creates them. */
  mint(owner: string, id: string, ...amounts: readonly string[]): Observable<readonly string[]>;
  /** Lets a receiver accept all transfers in advance: they need no offer from then on. Cold. */
  preapprove(receiver: string): Observable<string>;
}

/**
 * Returns the registry of an admin. It makes the contract of the factories at the first use.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 * import { sandboxRegistry, tokenTemplates } from 'canton-rx/sandbox/tokens';
 * import { firstValueFrom } from 'rxjs';
 *
 * const sandbox = await startSandbox({ templates: tokenTemplates });
 * const [admin, alice] = [sandbox.hostedParty('bank'), sandbox.hostedParty('alice')];
 * const registry = sandboxRegistry(sandbox, { admin });
 * const holdings = await firstValueFrom(registry.mint(alice, 'Gold', '10.0', '5.5'));
 * console.log(holdings.length);
 * await sandbox.close();
 * // => 2
 * ```
 * @category Sandbox
 */
export function sandboxRegistry(sandbox: Sandbox, { admin, token }: SandboxRegistryOptions): SandboxRegistry {
  let submissions = 0;
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const ask = <A>(path: string, body: object): Observable<A> =>
    sandbox.port({ method: 'POST', url: sandbox.url + path, headers, body: JSON.stringify(body) }).pipe(
      map(({ status, text }) => {
        if (status !== 200) throw new Error(`the sandbox answered with ${status}: ${text}`);
        return JSON.parse(text) as A;
      }),
    );
  const withBlobs = { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: true } } } };
  const eventFormat = { filtersByParty: { [admin]: { cumulative: [withBlobs] } }, verbose: false };
  const submit = (actAs: readonly string[], commands: readonly object[]): Observable<readonly Created[]> =>
    defer(() => {
      const commandId = `registry-${(submissions += 1)}-${sandbox.ledgerEnd}-${Math.random()}`;
      return ask<{ readonly transaction: { readonly events: readonly { readonly CreatedEvent: Created }[] } }>(
        '/v2/commands/submit-and-wait-for-transaction',
        {
          commands: { userId: 'registry', commandId, actAs: [...new Set(actAs)], commands },
          transactionFormat: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
        },
      );
    }).pipe(map(({ transaction }) => transaction.events.map(({ CreatedEvent }) => CreatedEvent)));
  const find = (contractId: string): Observable<Created> =>
    ask<{ readonly created: { readonly createdEvent: Created } }>('/v2/events/events-by-contract-id', {
      contractId,
      eventFormat,
    }).pipe(map(({ created }) => created.createdEvent));
  /** The holding that is locked for an instruction or an allocation: its receiver does not see it. */
  const findLocked = (contractId: string): Observable<DisclosedContract> =>
    find(contractId).pipe(
      concatMap(({ createArgument }) => find(createArgument.lockedCid ?? '')),
      map(disclosedOf),
    );
  const createOne = <C extends CreatableType>(type: C, payload: Parameters<C['encode']>[0], actAs: readonly string[]) =>
    submit(actAs, [create(type, payload)]).pipe(concatMap((created) => created.map(disclosedOf)));

  const rules$ = defer(() => createOne(Rules, { admin }, [admin])).pipe(
    shareReplay({ bufferSize: 1, refCount: false }),
  );
  const preapprovals = new Map<string, DisclosedContract>();

  /** The context of a choice, with the contracts that it names. */
  const contextWith = (
    rules: DisclosedContract,
    preapproval?: DisclosedContract,
    ...more: readonly DisclosedContract[]
  ): object => ({
    choiceContextData: {
      values: {
        [rulesKey]: contractValue(rules),
        ...(preapproval && { [preapprovalKey]: contractValue(preapproval) }),
      },
    },
    disclosedContracts: [rules, ...(preapproval ? [preapproval] : []), ...more],
  });

  const answer = (path: string, body: unknown, rules: DisclosedContract): Observable<object> => {
    const [, contractId] = contextPath.exec(path) ?? [];
    if (contractId !== undefined)
      return findLocked(decodeURIComponent(contractId)).pipe(map((locked) => contextWith(rules, undefined, locked)));
    const factory = { factoryId: rules.contractId };
    if (path === '/registry/allocation-instruction/v1/allocation-factory')
      return of({ ...factory, choiceContext: contextWith(rules) });
    if (path !== '/registry/transfer-instruction/v1/transfer-factory') throw new Error(`the registry has no ${path}`);
    const { sender, receiver } = (body as TransferFactoryRequest).choiceArguments.transfer;
    const preapproval = sender === receiver ? undefined : preapprovals.get(receiver);
    const transferKind = sender === receiver ? 'self' : kindBy(preapproval);
    return of({ ...factory, transferKind, choiceContext: contextWith(rules, preapproval) });
  };

  return {
    admin,
    post: (path, body) => rules$.pipe(concatMap((rules) => answer(path, body, rules))),
    mint: (owner, id, ...amounts) => {
      const instrument: InstrumentId = { admin, id };
      const commands = amounts.map((size) => create(Token, tokenOf(owner, instrument, size)));
      return submit([admin, owner], commands).pipe(map((created) => created.map(({ contractId }) => contractId)));
    },
    preapprove: (receiver) =>
      createOne(Preapproval, { admin, receiver }, [admin, receiver]).pipe(
        concatMap((disclosed) => {
          preapprovals.set(receiver, disclosed);
          return of(disclosed.contractId);
        }),
      ),
  };
}

const contextPath =
  /^\/registry\/(?:transfer-instruction\/v1|allocations\/v1)\/([^/]+)\/choice-contexts\/(?:accept|reject|withdraw|execute-transfer|cancel)$/;

/** What a request for a transfer factory must have. */
interface TransferFactoryRequest {
  readonly choiceArguments: { readonly transfer: { readonly sender: string; readonly receiver: string } };
}

/** A disclosed contract, with its id. */
type DisclosedContract = Disclosure & { readonly contractId: string };

/** A created event in wire form. */
interface Created {
  readonly templateId: string;
  readonly contractId: string;
  readonly createdEventBlob: string;
  readonly createArgument: { readonly lockedCid?: string };
}

const disclosedOf = ({ templateId, contractId, createdEventBlob }: Created): DisclosedContract => ({
  templateId,
  contractId,
  createdEventBlob,
  synchronizerId: '',
});

const kindBy = (preapproval: DisclosedContract | undefined): string => (preapproval ? 'direct' : 'offer');

const contractValue = ({ contractId }: DisclosedContract): object => ({ tag: 'AV_ContractId', value: contractId });
