import * as t from 'io-ts';
import { asyncScheduler, defer, from, map, type Observable, type ObservableInput } from 'rxjs';
import { type Command, exercise } from '../codecs/Command.js';
import { formatProblem, problemsOf } from '../codecs/Problem.js';
import { DisclosedContract } from '../codecs/SubmissionRequest.js';
import {
  Allocation,
  AllocationFactory,
  type AllocateArgument,
  TransferFactory,
  TransferInstruction,
} from './interfaces.js';
import type { AllocationSpecification, TokenMetadata, TokenTransfer } from './values.js';

/**
 * A submission to the token standard without its user and parties: spread it into a request of the ledger, or return it from a
 * function of a rule or an outbox.
 *
 * @category Tokens
 */
export interface TokenSubmission {
  /** The command. */
  readonly commands: readonly Command[];
  /** The contracts that the participant needs for it, and that the parties do not see. */
  readonly disclosedContracts: readonly DisclosedContract[];
}

/**
 * A transfer, of which the times and the metadata may be absent: it was requested 10 seconds ago, because the clock of the ledger may be
 * slow, may be executed within a day, and has no metadata.
 *
 * @category Tokens
 */
export type TransferRequest = Omit<TokenTransfer, DefaultField> & {
  readonly [Field in DefaultField]?: TokenTransfer[Field] | undefined;
};

/**
 * The fields with defaults.
 *
 * @inline
 */
type DefaultField = 'requestedAt' | 'executeBefore' | 'meta';

/**
 * Makes submissions to the token standard with the choice context of a registry. Each method sends one request for each
 * subscription, and emits once. It fails with the error of your function, and with a TypeError for an answer that it cannot
 * decode. Do not keep a submission: its context may be specific to the choice and to the moment.
 *
 * @category Tokens
 */
export interface TokenCommands {
  /** Transfers, by the factory of the registry. */
  transfer(transfer: TransferRequest, options?: TokenCommandOptions): Observable<TokenSubmission>;
  /** Exercises a choice of a transfer that waits: the receiver accepts or rejects it, the sender withdraws it. */
  respond(
    instructionId: string,
    choice: 'accept' | 'reject' | 'withdraw',
    options?: TokenCommandOptions,
  ): Observable<TokenSubmission>;
  /** Locks holdings for a leg of a settlement, by the factory of the registry. */
  allocate(
    allocation: Omit<AllocateArgument, 'expectedAdmin' | 'extraArgs'>,
    options?: TokenCommandOptions,
  ): Observable<TokenSubmission>;
  /** Exercises a choice of an allocation: executor, sender and receiver execute or cancel it, or the sender withdraws it. */
  settle(
    allocationId: string,
    choice: 'execute-transfer' | 'cancel' | 'withdraw',
    options?: TokenCommandOptions,
  ): Observable<TokenSubmission>;
}

/**
 * Options of the methods of {@link TokenCommands}.
 *
 * @category Tokens
 */
export interface TokenCommandOptions {
  /**
   * Metadata of the choice.
   *
   * @defaultValue none
   */
  readonly meta?: TokenMetadata | undefined;
}

/**
 * Returns functions that make submissions to the token standard V1, with the choice context and the disclosed contracts of the
 * registry of an instrument.
 *
 * @param post - sends a POST request to the registry, and returns the JSON of its answer. It must fail for any status but 200.
 *   The path begins with `/registry/`
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { tokenCommands, type TransferRequest } from 'canton-rx/tokens';
 * import { switchMap } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const tokens = tokenCommands(async (path, body) => {
 *   const headers = { 'content-type': 'application/json' };
 *   const response = await fetch(`https://registry.example${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
 *   if (!response.ok) throw new Error(`the registry answered with ${response.status}`);
 *   return response.json();
 * });
 *
 * export const pay = (transfer: TransferRequest) =>
 *   tokens
 *     .transfer(transfer)
 *     .pipe(switchMap((made) => ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [transfer.sender], ...made })));
 * ```
 * @category Tokens
 */
export function tokenCommands(post: (path: string, body: unknown) => ObservableInput<unknown>): TokenCommands {
  const ask = <A>(codec: t.Type<A, unknown>, path: string, body: object): Observable<A> =>
    defer(() => from(post(`/registry/${path}`, { ...body, excludeDebugFields: true }))).pipe(
      map((json) => {
        const decoded = codec.decode(json);
        if (decoded._tag === 'Right') return decoded.right;
        const problems = problemsOf(decoded.left).map(formatProblem).join('; ');
        throw new TypeError(`the answer of the registry to ${path} is not that of the token standard: ${problems}`);
      }),
    );
  const contextFor = (
    path: string,
    meta: TokenMetadata,
    make: (extraArgs: { readonly extraArgs: Extra }) => Command,
  ): Observable<TokenSubmission> =>
    ask(ChoiceContext, path, { meta: meta.values }).pipe(
      map((context) => submissionOf(context, make({ extraArgs: extraOf(context, meta) }))),
    );
  return {
    transfer: (request, { meta = none } = {}) =>
      defer(() => {
        const {
          requestedAt = fromNow(-10_000),
          executeBefore = fromNow(86_400_000),
          meta: metaOfTransfer = none,
        } = request;
        const transfer = { ...request, requestedAt, executeBefore, meta: metaOfTransfer };
        const choiceArguments = { expectedAdmin: transfer.instrumentId.admin, transfer };
        return ask(Factory, 'transfer-instruction/v1/transfer-factory', {
          choiceArguments: { ...choiceArguments, extraArgs: emptyExtra(meta) },
        }).pipe(
          map(({ factoryId, choiceContext }) => {
            const argument = { ...choiceArguments, extraArgs: extraOf(choiceContext, meta) };
            return submissionOf(choiceContext, exercise(TransferFactory.TransferFactory_Transfer, factoryId, argument));
          }),
        );
      }),
    respond: (id, choice, { meta = none } = {}) =>
      contextFor(`transfer-instruction/v1/${encodeURIComponent(id)}/choice-contexts/${choice}`, meta, (argument) =>
        exercise(TransferInstruction[responses[choice]], id, argument),
      ),
    allocate: (allocation, { meta = none } = {}) => {
      const choiceArguments = { expectedAdmin: adminOf(allocation.allocation), ...allocation };
      return ask(Factory, 'allocation-instruction/v1/allocation-factory', {
        choiceArguments: { ...choiceArguments, extraArgs: emptyExtra(meta) },
      }).pipe(
        map(({ factoryId, choiceContext }) => {
          const argument = { ...choiceArguments, extraArgs: extraOf(choiceContext, meta) };
          return submissionOf(
            choiceContext,
            exercise(AllocationFactory.AllocationFactory_Allocate, factoryId, argument),
          );
        }),
      );
    },
    settle: (id, choice, { meta = none } = {}) =>
      contextFor(`allocations/v1/${encodeURIComponent(id)}/choice-contexts/${choice}`, meta, (argument) =>
        exercise(Allocation[settlements[choice]], id, argument),
      ),
  };
}

/** A time in some milliseconds, by the clock of RxJS, which is virtual in marble tests. */
const fromNow = (ms: number): string => new Date(asyncScheduler.now() + ms).toISOString();

const none: TokenMetadata = { values: {} };

const responses = {
  accept: 'TransferInstruction_Accept',
  reject: 'TransferInstruction_Reject',
  withdraw: 'TransferInstruction_Withdraw',
} as const;

const settlements = {
  'execute-transfer': 'Allocation_ExecuteTransfer',
  cancel: 'Allocation_Cancel',
  withdraw: 'Allocation_Withdraw',
} as const;

const ChoiceContext = t.type({
  choiceContextData: t.type({ values: t.record(t.string, t.unknown) }),
  disclosedContracts: t.readonlyArray(DisclosedContract),
});
type ChoiceContext = t.TypeOf<typeof ChoiceContext>;

const Factory = t.type({ factoryId: t.string, choiceContext: ChoiceContext });

type Extra = ReturnType<typeof extraOf>;
const extraOf = ({ choiceContextData }: Pick<ChoiceContext, 'choiceContextData'>, meta: TokenMetadata) => ({
  context: choiceContextData,
  meta,
});
const emptyExtra = (meta: TokenMetadata): Extra => extraOf({ choiceContextData: { values: {} } }, meta);

const adminOf = ({ transferLeg }: AllocationSpecification): string => transferLeg.instrumentId.admin;

const submissionOf = ({ disclosedContracts }: ChoiceContext, command: Command): TokenSubmission => ({
  commands: [command],
  disclosedContracts,
});
