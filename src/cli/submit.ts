import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { catchError, concatMap, defer, from, map, merge, type Observable, of, take, toArray } from 'rxjs';
import { type CommandsRequest, isLedgerError, type LedgerError, type PreparedSubmission } from '../index.js';
import type { PrepareRequest, SubmittedTransaction } from '../index.js';
import { validateCommands } from '../submission/submitCommands.js';
import { parseOptions, readInteger, UsageError } from './arguments.js';
import { ledgerCommands } from './ledgerCommands.js';
import { readConnection } from './Connection.js';
import { parseExactJson } from './exactJson.js';
import { reportError } from './failure.js';
import type { Values } from './options.js';
import { templateOf } from './Selection.js';
import { firstAnswer, openSession, type Session } from './Session.js';
import { quoteOption } from './shell.js';
import { jsonLine, showText } from './terminal.js';
import { errorLine, interruptedCode, interruptions, printResult, systemReason, type World } from './World.js';

/** `canton-rx submit`; emits the exit code, once. */
export const submitCommand = (args: readonly string[], world: World): Observable<number> =>
  defer(() => {
    const options = readSubmitOptions(args, world);
    return openSession(options, world).pipe(
      concatMap((session) => {
        const work$ = options.isDryRun ? prepare(session, options) : submit(session, options);
        return work$.pipe(catchError((error: unknown) => reportOutcome(error, options, session)));
      }),
    );
  });

const submitOptions = ledgerCommands.submit.options;

type SubmitOptions = ReturnType<typeof readSubmitOptions>;

function readSubmitOptions(args: readonly string[], world: World) {
  const values = parseOptions(args, submitOptions);
  const { 'act-as': actAs, 'user-id': userId, since, 'command-id': commandId } = values;
  const request: Readonly<Record<string, unknown>> = {
    ...(values.file === undefined ? { commands: [commandOf(values)] } : readRequest(values.file, values)),
    ...(actAs !== undefined && { actAs }),
    ...(userId !== undefined && { userId }),
    ...(commandId !== undefined && { commandId }),
  };
  if (request['actAs'] === undefined) throw new UsageError('no party: use --act-as PARTY');
  if (since !== undefined && request['commandId'] == null) throw new UsageError('--since requires --command-id');
  return {
    ...readConnection(values, world),
    // the library checks it; a random command id, too, must be known if the outcome is not
    request: { ...request, commandId: request['commandId'] ?? randomUUID() } as unknown as CommandsRequest & {
      readonly commandId: string;
    },
    since: readInteger('since', since, undefined),
    isDryRun: values['dry-run'] === true,
    isJson: values.json === true || world.stdout.isTTY !== true,
  };
}

/** The command of the arguments: to create a contract, or with a choice to exercise it. Throws a {@link UsageError}. */
function commandOf({ template: templateId, argument, choice, contract }: Values<typeof submitOptions>): unknown {
  if (templateId === undefined) throw new UsageError('no command: use --template ID, or --file FILE');
  if ((choice === undefined) !== (contract === undefined))
    throw new UsageError('--choice and --contract require each other');
  const value = argument === undefined ? {} : parseExactJson(argument, '--argument');
  if (choice === undefined) return { CreateCommand: { templateId, createArguments: value } };
  return { ExerciseCommand: { templateId, contractId: contract, choice, choiceArgument: value } };
}

/** The request in a file. Throws a {@link UsageError}. */
function readRequest(file: string, { template, argument, choice, contract }: Values<typeof submitOptions>): object {
  if ([template, argument, choice, contract].some((value) => value !== undefined))
    throw new UsageError('--file excludes --template, --argument, --choice and --contract');
  const request = parseExactJson(readText(file), '--file');
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    throw new UsageError('--file must contain a JSON object');
  return request;
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read --file: ${systemReason(error) ?? 'unknown error'}`);
  }
}

/** Submits the commands. A signal leaves the outcome unknown. */
const submit = (session: Session, { request, since, isJson }: SubmitOptions): Observable<number> =>
  firstAnswer(session).pipe(
    concatMap((end) => {
      const { ledger, world } = session;
      const stopped$ = interruptions(world.signals).pipe(
        map(() => {
          world.stderr.write('interrupted: the commands may be committed\n');
          world.stderr.write(continuation(request.commandId, since ?? end));
          return interruptedCode;
        }),
      );
      const committed$ = ledger.submitAndWaitForTransaction(request, since === undefined ? {} : { since }).pipe(
        concatMap((transaction) => {
          const [summary = ''] = describe(transaction);
          const text = isJson ? jsonLine(transaction) : `${describe(transaction).join('\n')}\n`;
          // not the code of a failure: a script would submit it again
          return printResult(world, text, 0, { code: unknownCode, notice: `${summary}\n` });
        }),
      );
      return merge(stopped$, committed$).pipe(take(1));
    }),
  );

/** Lets the participant interpret what `submit` would send, and prints what it would cost. Commits nothing. */
const prepare = ({ ledger, world }: Session, { request, since, isJson }: SubmitOptions): Observable<number> =>
  defer(() => from(toPrepareRequests(validateCommands(request, since)))).pipe(
    concatMap((one) => ledger.prepare(one)),
    toArray(),
    concatMap((prepared) => {
      const text = isJson ? prepared.map(jsonLine).join('') : describePrepared(prepared);
      return printResult(world, text, 0);
    }),
  );

/** The preparation of each command: a participant prepares one at a time. It has all fields that both requests have. */
function toPrepareRequests(request: CommandsRequest): readonly PrepareRequest[] {
  const { commandId, commands, actAs, readAs, userId, disclosedContracts, synchronizerId } = request;
  const { packageIdSelectionPreference, prefetchContractKeys, tapsMaxPasses } = request;
  const { minLedgerTimeAbs, minLedgerTimeRel } = request;
  return commands.map((command) => ({
    ...{ commandId: commandId ?? '', commands: [command], actAs, readAs, userId, disclosedContracts, synchronizerId },
    ...{ packageIdSelectionPreference, prefetchContractKeys, tapsMaxPasses },
    ...(minLedgerTimeAbs != null && { minLedgerTime: { time: { MinLedgerTimeAbs: { value: minLedgerTimeAbs } } } }),
    ...(minLedgerTimeRel != null && { minLedgerTime: { time: { MinLedgerTimeRel: { value: minLedgerTimeRel } } } }),
  }));
}

function describePrepared(prepared: readonly PreparedSubmission[]): string {
  const costs = prepared.map(({ costEstimation }) => costEstimation?.totalTrafficCostEstimation);
  const sum = costs.reduce((total, cost) => (total === undefined || cost === undefined ? undefined : total + cost), 0);
  const cost = sum === undefined ? '' : `; estimated traffic: ${sum} bytes`;
  return prepared.length === 1
    ? `valid, and nothing is committed${cost}\n`
    : `each of the ${prepared.length} commands is valid without the others, and nothing is committed${cost} for separate transactions\n`;
}

/** `committed at offset 12: 1220…`, and a line for each event. */
function describe({ offset, updateId, events, isRepeated }: SubmittedTransaction): readonly string[] {
  const lines = events.map((event) =>
    'contractId' in event ? `  ${event._tag} ${templateOf(event)} ${event.contractId}` : `  ${event._tag}`,
  );
  const earlier = isRepeated === true ? ', by an earlier attempt or another submission of this command id' : '';
  return [`committed at offset ${offset}${earlier}: ${updateId}`, ...lines].map(showText);
}

/** The options with which the same command determines its outcome, as a person pastes them. */
const continuation = (commandId: string, since: number | undefined): string => {
  const options = [quoteOption('command-id', commandId), ...(since === undefined ? [] : [`--since ${since}`])];
  return `determine it with the same command and ${options.join(' ')}\n`;
};

/** The exit code for an outcome that is not known, or that could not be printed. */
const unknownCode = 6;

/** The exit code for a right that is missing, as that of `check`. */
const rightsCode = 5;

/** Whether the ledger says that the user lacks a right. The refusal of a gateway has no code of the ledger. */
const lacksRight = (error: LedgerError): boolean =>
  isLedgerError(error, 'ApiError', 'SubmissionRejectedError') && error.status === 403 && error.code !== undefined;

function reportOutcome(error: unknown, { request }: SubmitOptions, session: Session): Observable<number> {
  if (isLedgerError(error, 'InvalidRequestError'))
    throw new UsageError(error.message.replace('.\n', ': ').replaceAll('\n', '; '));
  if (!isLedgerError(error)) throw error;
  const { stderr } = session.world;
  if (isLedgerError(error, 'OutcomeUnknownError')) {
    stderr.write(errorLine(error.message));
    stderr.write(continuation(request.commandId, error.submission.since));
    return of(unknownCode);
  }
  // it has the reason and the next step: a check of the ledger, which only reads, would find nothing
  if (isLedgerError(error, 'SubmissionRejectedError') || lacksRight(error)) {
    // the error has the option of a program
    stderr.write(errorLine(error.message.replace(/^Next: pass userId\b/m, 'Next: add --user-id ID')));
    return of(lacksRight(error) ? rightsCode : 1);
  }
  return reportError(error, { templates: [], parties: request.actAs, resume: '' }, session);
}
