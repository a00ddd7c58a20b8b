import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { catchError, concatMap, defer, map, merge, type Observable, of, take } from 'rxjs';
import { type CommandsRequest, isLedgerError, type Ledger, type SubmittedTransaction } from '../index.js';
import { parseOptions, readInteger, UsageError, type Values } from './arguments.js';
import { connectionOptions, readConnection } from './Connection.js';
import { interruptedCode, reportError } from './failure.js';
import { firstAnswer, openSession, type Session } from './Session.js';
import { errorLine, interruptions, systemReason, type World } from './World.js';

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

const submitOptions = {
  ...connectionOptions,
  file: { type: 'string' },
  'act-as': { type: 'string', multiple: true },
  template: { type: 'string' },
  argument: { type: 'string' },
  choice: { type: 'string' },
  contract: { type: 'string' },
  'command-id': { type: 'string' },
  'user-id': { type: 'string' },
  since: { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type SubmitOptions = ReturnType<typeof readSubmitOptions>;

function readSubmitOptions(args: readonly string[], { env, stdout }: World) {
  const values = parseOptions(args, submitOptions);
  const { 'act-as': actAs, 'user-id': userId, since, 'command-id': commandId } = values;
  const request: Readonly<Record<string, unknown>> = {
    ...(values.file === undefined ? { commands: [commandOf(values)] } : readRequest(values.file, values)),
    ...(actAs !== undefined && { actAs }),
    ...(userId !== undefined && { userId }),
    ...(commandId !== undefined && { commandId }),
  };
  if (request['actAs'] === undefined) throw new UsageError('no party: use --act-as PARTY');
  if (since !== undefined && request['commandId'] === undefined) throw new UsageError('--since requires --command-id');
  return {
    ...readConnection(values, env),
    // the library checks it; a random command id, too, must be known if the outcome is not
    request: { commandId: randomUUID(), ...request } as unknown as CommandsRequest & { readonly commandId: string },
    since: readInteger('since', since, undefined),
    isDryRun: values['dry-run'] === true,
    isJson: values.json === true || stdout.isTTY !== true,
  };
}

/** The command of the arguments: to create a contract, or with a choice to exercise it. Throws a {@link UsageError}. */
function commandOf({ template, argument, choice, contract }: Values<typeof submitOptions>): unknown {
  if (template === undefined) throw new UsageError('no command: use --template ID, or --file FILE');
  if ((choice === undefined) !== (contract === undefined))
    throw new UsageError('--choice and --contract require each other');
  const templateId = template;
  const value = argument === undefined ? {} : parseJson(argument, '--argument');
  if (choice === undefined) return { CreateCommand: { templateId, createArguments: value } };
  return { ExerciseCommand: { templateId, contractId: contract, choice, choiceArgument: value } };
}

/** The request in a file. Throws a {@link UsageError}. */
function readRequest(file: string, { template, argument, choice, contract }: Values<typeof submitOptions>): object {
  if ([template, argument, choice, contract].some((value) => value !== undefined))
    throw new UsageError('--file excludes --template, --argument, --choice and --contract');
  const request = parseJson(readText(file), '--file');
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

function parseJson(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${option} must contain valid JSON`);
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
        map((transaction) => {
          world.stdout.write(isJson ? `${JSON.stringify(transaction)}\n` : describe(transaction));
          return 0;
        }),
      );
      return merge(stopped$, committed$).pipe(take(1));
    }),
  );

/** Lets the participant interpret the commands, and prints what they would cost. Commits nothing. */
const prepare = ({ ledger, world }: Session, { request, isJson }: SubmitOptions): Observable<number> =>
  ledger.prepare(toPrepareRequest(request)).pipe(
    map((prepared) => {
      const cost = prepared.costEstimation?.totalTrafficCostEstimation;
      const text = `valid, and nothing is committed${cost === undefined ? '' : `; estimated traffic: ${cost} bytes`}\n`;
      world.stdout.write(isJson ? `${JSON.stringify(prepared)}\n` : text);
      return 0;
    }),
  );

/** What both ways of submitting have. */
function toPrepareRequest(request: SubmitOptions['request']): Parameters<Ledger['prepare']>[0] {
  const { commandId, commands, actAs, readAs, userId, disclosedContracts, synchronizerId } = request;
  return { commandId, commands, actAs, readAs, userId, disclosedContracts, synchronizerId };
}

/** `committed at offset 12: 1220…`, and a line for each event. */
function describe({ offset, updateId, events, isRepeated }: SubmittedTransaction): string {
  const lines = events.map((event) =>
    'contractId' in event ? `  ${event._tag} ${templateOf(event)} ${event.contractId}` : `  ${event._tag}`,
  );
  const earlier = isRepeated === true ? ', by an earlier attempt or another submission of this command id' : '';
  return `${[`committed at offset ${offset}${earlier}: ${updateId}`, ...lines].join('\n')}\n`;
}

/** A template in the form that `--template` takes. */
const templateOf = ({
  packageName,
  templateId,
}: {
  readonly packageName: string;
  readonly templateId: string;
}): string => `#${packageName}${templateId.slice(templateId.indexOf(':'))}`;

const continuation = (commandId: string, since: number | undefined): string =>
  `determine it with the same command and --command-id ${commandId}${since === undefined ? '' : ` --since ${since}`}\n`;

/** The exit code for an outcome that is not known. */
const unknownCode = 6;

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
  // it has the reason and the next step: a check of the ledger would find nothing
  if (isLedgerError(error, 'SubmissionRejectedError')) {
    stderr.write(errorLine(error.message));
    return of(1);
  }
  return reportError(error, { templates: [], parties: request.actAs, resume: '' }, session);
}
