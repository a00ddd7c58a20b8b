import { JsCantonError } from '../codecs/JsCantonError.js';
import { Offset } from '../codecs/scalars.js';
import { PrunedError } from './feed.js';
import { nameOf, quotable, type Retried, TaggedError } from './internal/message.js';
import { type AnsweredBy, isOfHttpLayer, productOf, remedyFor } from './network.js';
import { cut } from './text.js';

/**
 * Where the participant has answered before a response: at the same path, or at another one.
 *
 * @inline
 */
export type AnsweredBefore = 'here' | 'elsewhere';

/**
 * The facts of an {@link ApiError}.
 *
 * @inline
 */
interface ApiErrorFacts {
  /** The path of the request. */
  readonly path: string;
  /** The HTTP status. */
  readonly status: number;
  /** The path with the scheme, the host and the port. */
  readonly url?: string;
  /** The ledger's error. Absent if the network or the HTTP layer answered. */
  readonly canton?: JsCantonError;
  /** Default: the ledger if there is an error of it. */
  readonly answeredBy?: AnsweredBy;
  /** The product that answered in place of the ledger. */
  readonly product?: string | undefined;
  /** Where the participant has answered before. Absent if it has not. */
  readonly answeredBefore?: AnsweredBefore | undefined;
  /** The beginning of a response that is not an error of the ledger. */
  readonly text?: string;
  /** The delay that the response requests by `Retry-After`, in milliseconds, if it does. */
  readonly retryAfterMs?: number;
  /** The host and the port of the participant or proxy. */
  readonly host?: string;
  /** Where a redirect leads, as an absolute URL or a path. */
  readonly location?: string;
  /** The right that the user lacks, if the request shows it. */
  readonly missingRight?: string | undefined;
  /** Whether the response says that the token is invalid or its user unknown. */
  readonly isUserRefused?: boolean;
}

/**
 * The participant, or the network in front of it, answered with an error: see `answeredBy`. {@link isTransient} tests whether a
 * retry may succeed.
 *
 * @category Errors
 */
export class ApiError extends TaggedError<'ApiError'> {
  /** How many times and for how long the request was retried; absent if it was not. */
  declare readonly retried?: Retried;
  /** The path of the request. */
  readonly path: string;
  /** The HTTP status. 0 for a redirect in a browser, which does not show more of it. */
  readonly status: number;
  /** What has answered. The status of the network says nothing about the ledger. */
  readonly answeredBy: AnsweredBy;
  /** The product that answered in place of the ledger, such as `nginx`, if its response shows it. */
  readonly product: string | undefined;
  /**
   * Where the participant had answered before the network did: at this path, or elsewhere; `undefined` if nowhere, so that the
   * address may be wrong. After an answer of the participant, an answer of the network is an outage, whatever its status.
   */
  readonly answeredBefore: AnsweredBefore | undefined;
  /** The ledger's error code, such as `INVALID_ARGUMENT`. `NA` if the ledger withholds it, `undefined` for the network. */
  readonly code: string | undefined;
  /** The ledger's error category, 1 to 14. -1 if the ledger withholds it, `undefined` for the network. */
  readonly errorCategory: number | undefined;
  /** The ledger's explanation, or the beginning of any other response. */
  readonly reason: string;
  /** Identifies the error in the participant's logs. */
  readonly correlationId: string | undefined;
  /** The details that the ledger gives. */
  readonly context: Readonly<Record<string, string>>;
  /** The ids of the contracts that the ledger names. */
  readonly contractIds: readonly string[];
  /**
   * Whether this attempt of a submission has certainly failed; `undefined` if the participant does not report it. Also true
   * for `DUPLICATE_COMMAND`, which means that an earlier attempt was committed.
   */
  readonly definiteAnswer: boolean | undefined;
  /** The delay that the response requests by `Retry-After`, in milliseconds, if it does. */
  readonly retryAfterMs: number | undefined;
  /** The host and the port of the participant or proxy. */
  readonly host: string | undefined;
  /** The right that the user lacks after a 403, such as `CanReadAs alice::1220ab`, if the request shows it. */
  readonly missingRight: string | undefined;
  /** Whether a 403 says that the user of the token is unknown or deactivated, or the token invalid. No right helps then. */
  readonly isUserRefused: boolean;

  constructor({ path, url, status, canton, text = '', retryAfterMs, host, location, ...facts }: ApiErrorFacts) {
    const { answeredBy = canton === undefined ? 'network' : 'ledger', product, answeredBefore } = facts;
    const { isUserRefused = false } = facts;
    const reason = canton?.cause ?? text;
    const isOfNetwork = answeredBy === 'network';
    const isPage = product !== undefined || text.startsWith('<');
    const missingRight = isUserRefused || (isOfNetwork && isPage) ? undefined : facts.missingRight;
    const isForeign = isOfNetwork && (isPage || status === 404 || (url !== undefined && status < 500));
    // the other 5xx may pass
    const isWrongAddress =
      isOfNetwork && answeredBefore === undefined && (status < 500 || status === 501 || status === 505);
    const answer = isForeign ? foreignAnswer(status, product, location) : status;
    super('ApiError', `${nameOf(host)} answered ${answer}${reason === '' ? '.' : `: ${reason}`}`, {
      'Missing right': missingRight,
      Code: canton?.code,
      Category: canton?.errorCategory,
      ...(isWrongAddress && url !== undefined ? { URL: url, Next: remedyFor(status) } : { Path: path }),
      Correlation: canton?.correlationId,
      ...(missingRight !== undefined && {
        Next: 'let an administrator of the participant grant the right',
        Runbook: 'docs/runbook.md#a-missing-right',
      }),
      ...(isUserRefused && {
        Next: userAdvice,
        Runbook: 'docs/runbook.md#an-unknown-user',
      }),
    });
    this.answeredBy = answeredBy;
    this.product = product;
    this.answeredBefore = answeredBefore;
    this.path = path;
    this.status = status;
    this.code = canton?.code;
    this.errorCategory = canton?.errorCategory;
    this.reason = reason;
    this.correlationId = canton?.correlationId;
    this.context = canton?.context ?? {};
    this.contractIds = canton === undefined ? [] : contractIdsIn(reason, JSON.stringify(canton.resources ?? ''));
    this.definiteAnswer = canton?.definiteAnswer ?? parseFlag(canton?.context['definite_answer']);
    this.retryAfterMs = retryAfterMs;
    this.host = host;
    this.missingRight = missingRight;
    this.isUserRefused = isUserRefused;
  }
}

/** What an answer of the network is, for messages. */
function foreignAnswer(status: number, product: string | undefined, location: string | undefined): string {
  const by = product === undefined ? '' : ` (${product})`;
  if (status >= 400) return `${status}, but not as a ledger${by}`;
  const target = location === undefined ? '' : ` to ${withoutQuery(location)}`;
  return `${status === 0 ? 'with' : `${status},`} a redirect${target}, which is not followed${by}`;
}

/** What helps after an {@link ApiError} with `isUserRefused`. */
export const userAdvice =
  'check the user of the token: the participant does not know it, or it is deactivated, or the token is invalid';

/** Without what may be a secret. */
const withoutQuery = (location: string): string => location.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');

const parseFlag = (text: string | undefined): boolean | undefined => (text === undefined ? undefined : text === 'true');

/** Looks up the code of an error in a table. */
export const lookUpCode = <A>(table: Readonly<Record<string, A>>, { code }: ApiError): A | undefined =>
  code !== undefined && Object.hasOwn(table, code) ? table[code] : undefined;

/** A response that is not a success. */
interface FailedAnswer extends Omit<ApiErrorFacts, 'canton' | 'text' | 'answeredBy' | 'product'> {
  /** The body, of any form. */
  readonly text: string;
  /** The headers. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Parts of the request that the error must not quote, because a participant or a proxy may echo them. */
  readonly secrets?: readonly string[];
}

/** The error of a response that is not a success, from the ledger or from anything in front of it. */
export function errorOf({ text, headers = {}, secrets = [], ...others }: FailedAnswer): ApiError | PrunedError {
  const quoted = (words: string): string => quotable(words, secrets);
  const answer = { ...others, isUserRefused: refusesUser(others.status, text) };
  const canton = cantonErrorIn(text);
  if (canton === undefined) return foreignError({ ...answer, text, headers }, quoted);
  if (canton.code === 'PARTICIPANT_PRUNED_DATA_ACCESSED') return new PrunedError(answer.path, earliestOffset(canton));
  const { code, cause, correlationId, context } = canton;
  return new ApiError({
    ...answer,
    canton: {
      ...canton,
      code: quoted(code),
      cause: quoted(cause),
      ...(correlationId !== undefined && { correlationId: quoted(correlationId) }),
      context: Object.fromEntries(Object.entries(context).map(([key, value]) => [quoted(key), quoted(value)])),
    },
  });
}

/** The error of a response that is not an error of the ledger. A part of it may still be that of the participant. */
function foreignError(
  { text, headers, location, ...answer }: Required<Pick<FailedAnswer, 'headers'>> & FailedAnswer,
  quoted: (words: string) => string,
): ApiError {
  const { status, answeredBefore } = answer;
  // any server may refuse a method in the same words, but not where the participant has accepted it
  const isOfLedger = isOfHttpLayer({ status, text }) && !(status === 405 && answeredBefore === 'here');
  return new ApiError({
    ...answer,
    text: excerpt(quoted(text)),
    ...(location !== undefined && { location: quoted(location) }),
    ...(isOfLedger ? { answeredBy: 'ledger' } : { product: productOf({ headers, text }) }),
  });
}

/**
 * Whether an answer says that the token is invalid, or that its user is unknown or deactivated. No right helps then. A 401
 * says nothing of the user.
 */
const refusesUser = (status: number, text: string): boolean =>
  status === 403 && userRefusals.test(text.slice(0, 10_000));

/** Participants say `invalid token`; other services in front of them have other words. */
const userRefusals =
  /invalid[\s_-]*(access[\s_-]*)?token|token[\s_-]*(is[\s_-]*)?invalid|(unknown|deactivated|disabled|inactive|no[\s_-]*such)[\s_-]*user|user[^a-z][^.;}]{0,100}?(unknown|deactivated|disabled|inactive|not[\s_-]*(found|known|active|exist)|doesn't[\s_-]*exist)/i;

/** The parties in the JSON of a request that reads: those that have a filter, and those in its lists of parties. */
export function partiesIn(body: string): readonly string[] {
  const found: string[] = [];
  JSON.parse(body, (key, value: unknown) => {
    if (key === 'filtersByParty') found.push(...Object.keys(value ?? {}));
    else if (key === 'parties' && Array.isArray(value)) found.push(...(value as string[]));
    return value;
  });
  return [...new Set(found)];
}

/** The parties that act in the JSON of a submission. Only its own field counts: the payloads of its commands may have one, too. */
function actingParties(body: string): readonly string[] {
  const request = JSON.parse(body) as { readonly actAs?: string[]; readonly commands: { readonly actAs?: string[] } };
  return request.commands.actAs ?? request.actAs ?? [];
}

/** The right that a user lacks after a 403, as far as the request shows it; `undefined` if it does not. */
export function missingRight(path: string, body = 'null'): string | undefined {
  const isCommand = /commands\/submit|\/prepare/.test(path);
  const right = path.includes('commands/submit') ? 'CanActAs' : 'CanReadAs';
  if (!isCommand && body.includes('"filtersForAnyParty":{')) return `${right}AnyParty`;
  const parties = isCommand ? actingParties(body) : partiesIn(body);
  if (parties.length === 0) return path.endsWith('/parties') ? 'ParticipantAdmin' : undefined;
  return `${right} ${parties.slice(0, 4).join(', ')}`;
}

function cantonErrorIn(text: string): JsCantonError | undefined {
  try {
    const decoded = JsCantonError.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}

/** The beginning of a proxy's page, which identifies it. Anything that looks like JSON is cut off, because it may be data. */
const excerpt = (text: string): string => cut(text.replace(/(["[{]|&quot;).*/s, '').trim(), 200);

function earliestOffset({ context }: JsCantonError): Offset | undefined {
  const text = context['earliest_offset'] ?? '';
  const offset = /^\d+$/.test(text) ? Number(text) : undefined;
  return Offset.is(offset) ? offset : undefined;
}

/**
 * Why the ledger refused a submission, and what helps:
 *
 * - `contention`: another transaction uses the same contracts at the moment, or a contract is in flight to another synchronizer.
 *   Read the contracts again, and submit again.
 * - `inactiveContract`: a contract of the commands is archived or unknown. Read the contracts again.
 * - `refusal`: the Daml model refused the commands, for example by a failed assertion.
 * - `authorization`: the token, the parties of `actAs` or the signatures do not suffice.
 * - `packages`: a package is unknown, or a participant of the transaction does not vet it.
 * - `traffic`: the participant has too little traffic. Pause all submissions until it is topped up.
 * - `backPressure`: the participant or the synchronizer is overloaded. Submit less at a time.
 * - `topology`: no synchronizer connects all parties and contracts, at the moment or for good.
 * - `timeout`: the transaction was not sequenced or confirmed in time. Submit it again, later.
 * - `invalid`: the commands are malformed, such as an argument of the wrong type.
 * - `other`: anything else; see the code.
 *
 * @category Errors
 */
export type RejectionReason =
  | 'contention'
  | 'inactiveContract'
  | 'refusal'
  | 'authorization'
  | 'packages'
  | 'traffic'
  | 'backPressure'
  | 'topology'
  | 'timeout'
  | 'invalid'
  | 'other';

/** Returns why the ledger refused a submission: by its code, then by its category. */
export function rejectionReason(error: Facts): RejectionReason {
  const { code = '', errorCategory = 0, status } = error;
  if (code === 'UNKNOWN_CONTRACT_SYNCHRONIZERS') return saysArchived(error) ? 'inactiveContract' : 'contention';
  const byCode = patterns.find(([, pattern]) => pattern.test(code))?.[0];
  if (byCode !== undefined) return byCode;
  if (errorCategory === 6 || errorCategory === 7 || status === 401 || status === 403) return 'authorization';
  if (status === 429) return 'backPressure';
  const isInvalid = errorCategory === 8 || (errorCategory === 0 && (status === 400 || status === 413));
  return isInvalid ? 'invalid' : 'other';
}

/**
 * Whether a participant that does not know the synchronizer of contracts says that some are archived. If not, they are in flight
 * to another synchronizer, or their synchronizer is not connected.
 */
const saysArchived = ({ context = {}, reason = '' }: Facts): boolean =>
  !/^(?:\w*[([{]\s*[)\]}])?$/.test((context['archived'] ?? '').trim()) || /\barchived: *\w+\((?!\))/.test(reason);

/** What helps after a refusal, for messages. The others need the explanation. */
export const nextSteps: Readonly<Partial<Record<RejectionReason, string>>> = {
  contention: 'read the contracts again, and submit again; see retryContention',
  inactiveContract: 'read the contracts again, and submit again; see retryContention',
  packages: 'upload and vet the package on all participants of the transaction',
  traffic: 'pause all submissions until the participant has traffic',
  backPressure: 'submit less at a time',
  timeout: 'submit it again later',
};

/** What an error of the participant says. */
interface Facts {
  readonly code: string | undefined;
  readonly errorCategory: number | undefined;
  readonly status: number;
  readonly context?: Readonly<Record<string, string>>;
  /** The explanation. */
  readonly reason?: string;
}

/** The codes of each reason. The first pattern that matches decides. */
const patterns: readonly (readonly [RejectionReason, RegExp])[] = [
  ['contention', /LOCKED_CONTRACTS|^INCONSISTENT(_CONTRACT_KEY)?$/],
  ['timeout', /^SEQUENCER_REQUEST_FAILED$|^OUTDATED_TRAFFIC_COST$/],
  ['inactiveContract', /INACTIVE_CONTRACTS|^CONTRACT_(NOT_|KEY_NOT_|PAYLOAD_NOT_)|^UNKNOWN_CONTRACT_SYNCHRONIZER/],
  ['refusal', /^(DAML_FAILURE|UNHANDLED_EXCEPTION|TEMPLATE_PRECONDITION_VIOLATED|INTERPRETATION_USER_ERROR)$/],
  ['authorization', /^DAML_AUTHORIZATION|SIGNATURE|^INVALID_TOKEN$/],
  ['traffic', /TRAFFIC/],
  ['backPressure', /BACKPRESSURE|OVERLOADED|MAXIMUM_NUMBER_OF_STREAMS|MEMORY_OVER_LIMIT/],
  ['packages', /PACKAGE|VETTED|^TEMPLATES_OR_INTERFACES_|^NO_(TEMPLATES|INTERFACE)_/],
  ['invalid', /^DISCLOSED|^PRESCRIBED|DEDUPLICATION|^UNSUPPORTED_CONTRACT_ID$/],
  ['topology', /SYNCHRONIZER|SUBMITTER|INFORMEES|ONBOARDING|MEDIATOR_IS_INACTIVE|NO_VIEW_|REASSIGNMENT/],
  ['timeout', /TIME/],
];

/** The ids of the contracts in an explanation and its resources. */
const contractIdsIn = (...texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => text.match(/\b00[0-9a-f]{64,}/g) ?? [])),
];
