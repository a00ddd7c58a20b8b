import type { JsCantonError } from '../codecs/JsCantonError.js';
import { nameOf, type Retried, runbook, TaggedError } from './internal/message.js';
import { type AnsweredBy, remedyFor } from './network.js';
import { argumentsAdvice, isUndecodedRequest, lacksUser, userIdAdvice } from './rejectionReason.js';

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
export interface ApiErrorFacts {
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
  /** The number and the duration of the retries; absent if there were none. */
  declare readonly retried?: Retried;
  /** The path of the request. */
  readonly path: string;
  /** The HTTP status. 0 for a redirect in a browser, which does not show more of it. */
  readonly status: number;
  /** The sender of the response. The status of the network says nothing about the ledger. */
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
        Runbook: runbook('a-missing-right'),
      }),
      ...(lacksUser({ code: canton?.code, reason }) && { Next: userIdAdvice }),
      ...(canton !== undefined && isUndecodedRequest({ ...canton, status, reason }) && { Next: argumentsAdvice }),
      ...(isUserRefused && {
        Next: userAdvice,
        Runbook: runbook('an-unknown-user'),
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

  override get summary(): string {
    const { status, answeredBy } = this;
    if (answeredBy === 'network') return 'The ledger cannot be reached at the moment.';
    if (status === 401) return 'Your login is not valid.';
    if (status === 403) return 'You are not allowed to see or do this.';
    return status < 500 ? 'The ledger did not accept the request.' : 'The ledger is not available at the moment.';
  }
}

/** Names of the responses of the network, for messages. */
function foreignAnswer(status: number, product: string | undefined, location: string | undefined): string {
  const by = product === undefined ? '' : ` (${product})`;
  if (status >= 400) return `${status}, but not as a ledger${by}`;
  const target = location === undefined ? '' : ` to ${withoutQuery(location)}`;
  return `${status === 0 ? 'with' : `${status},`} a redirect${target}, which is not followed${by}`;
}

/** The remedy for an {@link ApiError} with `isUserRefused`. */
export const userAdvice =
  'check the user of the token: the participant does not know it, or it is deactivated, or the token is invalid';

/** Without what may be a secret. */
const withoutQuery = (location: string): string => location.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');

const parseFlag = (text: string | undefined): boolean | undefined => (text === undefined ? undefined : text === 'true');

/** Looks up the code of an error in a table. */
export const lookUpCode = <A>(table: Readonly<Record<string, A>>, { code }: ApiError): A | undefined =>
  code !== undefined && Object.hasOwn(table, code) ? table[code] : undefined;

/** The ids of the contracts in an explanation and its resources. */
const contractIdsIn = (...texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => text.match(/\b00[0-9a-f]{64,}/g) ?? [])),
];
