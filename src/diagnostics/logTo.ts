import { formatProblem } from '../codecs/Problem.js';
import { quotable } from '../errors/internal/message.js';
import { type LedgerError, isLedgerError } from '../errors/LedgerError.js';
import { isMistake } from '../errors/process.js';
import { quietly } from '../errors/quietly.js';
import type { Diagnostic } from './Diagnostic.js';
import { inSeconds, type Line, Logged } from './Logged.js';

/**
 * A logger for {@link logTo}: `console`, a logger of pino or winston, or the `Logger` of Nest. It needs the methods `warn`,
 * `error`, and `info` or `log`.
 *
 * @category Diagnostics
 */
export type LineLogger = {
  warn(line: string): unknown;
  error(line: string): unknown;
} & ({ info(line: string): unknown } | { log(line: string): unknown });

/**
 * Returns a function that logs what a person must know: that the ledger or a store cannot be reached and is reachable again,
 * gaps, failures and delays of handlers and commits, failures of submissions, and each feed or processor that ended with an
 * error. Of a processor with a name it also logs the role, the load of contracts, and when it has caught up. It logs nothing
 * else while all is well. `docs/runbook.md` has the lines, with what to do.
 *
 * A failure that lasts is logged immediately, and then once a minute. What is retried is a warning, what ends is an error, and a
 * recovery is information. A diagnostic is at most one line, after that of a recovery, without control characters. A line quotes the error, and so what
 * the ledger, a store or a handler says about it, but no token and no signature. The function does not throw, whatever the logger does.
 *
 * Create one function per ledger: it remembers what it has logged.
 *
 * @param logger - receives the lines
 * @returns the function, for `diagnostics$.subscribe`
 * @example
 * ```ts
 * import { createLedger, logTo } from 'canton-rx';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const logging = ledger.diagnostics$.subscribe(logTo(console));
 * logging.unsubscribe();
 * ```
 * @category Diagnostics
 */
export function logTo(logger: LineLogger): (diagnostic: Diagnostic) => void {
  const logged = new Logged();
  return (diagnostic) => {
    for (const line of [logged.recovery(diagnostic), lineOf(diagnostic)]) {
      if (line === undefined || !logged.admits(diagnostic, line)) continue;
      // parts of the text are from outside the library
      const text = quotable(`canton-rx: ${subjectOf(diagnostic)}${line.text}`, []);
      quietly(() => writeTo(logger, line.level, text));
    }
  };
}

function writeTo(logger: LineLogger, level: Line['level'], text: string): unknown {
  if (level !== 'info') return logger[level](text);
  return 'info' in logger ? logger.info(text) : logger.log(text);
}

/** The subject of a line: a rule, an outbox or a processor by its name, any other feed by its number. */
function subjectOf(diagnostic: Diagnostic): string {
  const { processor, feed, rule, outbox } = diagnostic;
  if (rule !== undefined) return `rule ${rule}: `;
  if (outbox !== undefined) return `outbox ${outbox}: `;
  if (processor !== undefined) return `processor ${processor}: `;
  return feed === undefined ? '' : `feed ${feed}: `;
}

/** The line of a diagnostic that a person must know. */
const lineOf = (diagnostic: Diagnostic): Line | undefined =>
  (lines[diagnostic._tag] as ((diagnostic: Diagnostic) => Line | undefined) | undefined)?.(diagnostic);

const warn = (text: string, about?: string): Line => ({ level: 'warn', text, about });

const fail = (text: string, about?: string): Line => ({ level: 'error', text, about });

/** A line for people who follow a processor with a name. */
const inform = ({ processor }: Diagnostic, text: string): Line | undefined =>
  processor === undefined ? undefined : { level: 'info', text };

/** Returns the line of each kind of diagnostic. */
const lines: {
  readonly [Tag in Diagnostic['_tag']]?: (diagnostic: Extract<Diagnostic, { _tag: Tag }>) => Line | undefined;
} = {
  PartyUnknown: ({ party }) => warn(`the participant does not host the party ${party}; check its id`),
  ResponseDelayed: ({ host, waitedMs }) =>
    warn(`no response from ${host} for ${inSeconds(waitedMs)}, still waiting`, host),
  AddressChanged: ({ from, to }) => warn(`the requests go to ${to} now, before to ${from}`, to),
  RetryScheduled: ({ cause, failures, delayMs }) =>
    warn(`${summary(cause)}, retry ${failures} in ${inSeconds(delayMs)}`, kindOf(cause)),
  SocketClosed: ({ cause }) => warn(`WebSocket: ${summary(cause)}, the feed continues over HTTP`, kindOf(cause)),
  GapFound: ({ cause, resumesFrom }) =>
    resumesFrom === undefined ? undefined : warn(`${summary(cause)}, resumes after offset ${resumesFrom}`),
  SelectionChanged: ({ offset }) =>
    warn(`the request selects other updates than before, the feed continues with them after offset ${offset}`),
  PositionMoved: ({ reason, from, to }) => {
    if (reason === 'outage') return undefined;
    const where =
      reason === 'restored'
        ? 'the participant was restored'
        : `another participant answers, ${to.participantId ?? '?'}`;
    return warn(`${where}: the feed continues after ${to.offset}, before at ${from.offset}`);
  },
  LedgerUnproven: ({ cursor }) =>
    warn(`nothing shows whether the ledger is still the same, the feed continues after ${cursor}`),
  FeedEnded: ({ how, error }) => (how === 'failed' ? fail(`ended with an error: ${details(error)}`) : undefined),
  SnapshotStarted: (diagnostic) => inform(diagnostic, 'loading the contracts'),
  SnapshotRestarted: ({ cause }) => warn(`the snapshot begins again: ${summary(cause)}`, kindOf(cause)),
  SnapshotCompleted: (diagnostic) => {
    const { count, offset, durationMs } = diagnostic;
    return inform(diagnostic, `loaded ${count} contracts at offset ${offset} in ${inSeconds(durationMs)}`);
  },
  ContractUndecoded: ({ expectedType, contractId, problems: [problem] }) => {
    const reason = problem === undefined ? '' : `, ${formatProblem(problem)}`;
    return warn(`a contract cannot be decoded as ${expectedType}: ${contractId}${reason}`, expectedType);
  },
  TypesUnknown: ({ types, retryInMs }) => {
    const names = types.join(', ');
    const next = `next query in ${inSeconds(retryInMs)}`;
    return warn(`the participant does not know ${names}; check the package and the name, ${next}`, names);
  },
  ContractsReconciled: ({ reason, offset, contracts }) =>
    warn(`${reconcileReasons[reason]}: the contracts at offset ${offset} were read again, and are ${contracts} now`),
  RoleChanged: (diagnostic) => {
    const { role, offset, isPaused = false } = diagnostic;
    const text = isPaused ? 'paused, and waits for canton-rx processors resume' : roles[role];
    return inform(diagnostic, `${text}${offset === undefined ? '' : `, the cursor is at offset ${offset}`}`);
  },
  WorkCaughtUp: (diagnostic) => inform(diagnostic, `caught up at offset ${diagnostic.offset}`),
  HandlerFailed: ({ feed, offset, failures, delayMs, cause }) => {
    const next = `retry ${failures} in ${inSeconds(delayMs)}`;
    return warn(`the handler failed at offset ${offset}: ${summary(cause)}, ${next}`, `${feed} ${offset}`);
  },
  HandlerDelayed: ({ processor, offset, waitedMs }) => {
    const text = `the handler has worked on offset ${offset} for ${inSeconds(waitedMs)}, nothing else is handled`;
    return warn(text, `${processor} ${offset}`);
  },
  CommitDelayed: ({ processor = '', waitedMs }) =>
    warn(`the store has not committed for ${inSeconds(waitedMs)}, it may wait for a lock`, processor),
  UpdateParked: ({ offset, cause }) => warn(`parked the update at offset ${offset}: ${summary(cause)}`),
  UpdateSkipped: ({ offset, cause }) => warn(`skipped the update at offset ${offset}: ${summary(cause)}`),
  WorkAbandoned: ({ during, offset, waitedMs }) => {
    const text = `stopped on request, and abandoned the ${during} at offset ${offset} after ${inSeconds(waitedMs)}`;
    return warn(`${text}: what is not committed is handled after a restart`);
  },
  NameLost: ({ cause }) => warn(`another processor has taken over the name: ${summary(cause)}`),
  RowsReplaced: ({ reason, contracts, exercises, updates, schema, offset }) => {
    const why =
      reason === 'ledgerReset'
        ? 'the ledger was restored or replaced'
        : 'the projection had no cursor and has loaded all contracts';
    return fail(
      `${why}: ${contracts} contracts, ${exercises} exercises and ${updates} updates are removed from the schema ${schema}, which now has the contracts at offset ${offset}`,
    );
  },
  ContractsEnded: ({ contracts, schema, after, until }) =>
    fail(
      `the ledger is pruned: the updates between the offsets ${after} and ${until} are not in the schema ${schema}, and ${contracts} contracts ended in between`,
    ),
  ActionFailed: ({ rule, contractId, cause, retryAt, at }) => {
    const next = retryAt === undefined ? 'the rule does not repeat it' : `retry in ${inSeconds(retryAt - at)}`;
    const text = `no action on contract ${contractId}: ${summary(cause)}, ${next}`;
    return warn(text, `${rule} ${isLedgerError(cause) ? kindOf(cause) : summary(cause)}`);
  },
  CommandFailed: ({ outbox, id, commandId, cause, retryAt, at }) => {
    const text = `command ${id} (${commandId}) has no commit: ${summary(cause)}, retry in ${inSeconds(retryAt - at)}`;
    return warn(text, `${outbox} ${isLedgerError(cause) ? kindOf(cause) : summary(cause)}`);
  },
  CommandParked: ({ id, commandId, cause }) => warn(`parked command ${id} (${commandId}): ${summary(cause)}`),
  SubmissionUnclear: ({ submissionId, cause, delayMs }) => {
    const text = `submission ${submissionId} has no outcome yet: ${summary(cause)}, retry in ${inSeconds(delayMs)}`;
    return warn(text, `${submissionId} ${kindOf(cause)}`);
  },
  SubmissionFailed: ({ submissionId, error }) => {
    // a lost race is usual
    const isContention = isLedgerError(error, 'SubmissionRejectedError') && error.isContention;
    return (isContention ? warn : fail)(`submission ${submissionId} failed: ${details(error)}`, error && kindOf(error));
  },
};

const reconcileReasons = {
  packageFound: 'a package was uploaded',
  appeared: 'earlier updates are visible by now',
  selectionChanged: 'the query selects others',
} as const;

const roles = {
  starting: 'starting: connects to its store',
  standby: 'standing by: another processor holds the name',
  leader: 'leading: holds the name and works',
} as const;

/** Identifies what failed, with the code of a database if there is one. The text of an error may differ each time. */
function kindOf(error: LedgerError): string {
  const { cause } = error;
  const facts = new Map<string, unknown>(Object.entries(error));
  const codeOfCause = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return [...kindKeys.map((key) => facts.get(key)), codeOfCause].map(String).join(' ');
}

const kindKeys = ['_tag', 'host', 'status', 'code', 'operation'];

/** The first line of an error's message, without the period. */
const summary = (error: unknown): string => shorten(messageOf(error).split('\n', 1)[0] ?? '') + stackOf(error);

/** All lines of an error's message as one. Each is cut apart, because the last ones say what to do, and where that is described. */
const details = (error: unknown): string => {
  const message = messageOf(error);
  const text = isLedgerError(error)
    ? message.split('\n').map(shorten).join('; ')
    : shorten(message.replace(/\.?\n/g, '; '));
  return text + stackOf(isLedgerError(error, 'HandlerError') && error.cause);
};

/** The calls that led to a mistake of the program: without them, its message does not say where it is. */
const stackOf = (error: unknown): string =>
  isMistake(error) ? ` ${/\n[ \t]*(at .*)/s.exec(String(error.stack))?.[1]?.slice(0, 1_000) ?? ''}` : '';

const shorten = (text: string): string => text.slice(0, 500).replace(/\.$/, '');

/** The message of an error, which may be any value of the program. */
function messageOf(error: unknown): string {
  // a feed has no error of the ledger if the program's own code failed
  if (error === undefined) return 'an exception of the program';
  try {
    const message: unknown = error instanceof Error ? error.message : undefined;
    return typeof message === 'string' ? message : 'no Error was thrown';
  } catch {
    return 'an Error without a message';
  }
}
