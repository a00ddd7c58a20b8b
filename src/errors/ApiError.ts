import { JsCantonError } from '../codecs/JsCantonError.js';
import { Offset } from '../codecs/scalars.js';
import { PrunedError } from './feed.js';
import { hasTag, lines, quotable } from './internal/message.js';
import type { Retried } from './verdict.js';

/** What an {@link ApiError} tells. */
export interface ApiErrorFacts {
  /** The path of the request. */
  readonly path: string;
  /** The HTTP status. */
  readonly status: number;
  /** The ledger's own error; absent where a proxy or the HTTP layer answered. */
  readonly canton?: JsCantonError;
  /** The first words of an answer that is no error of the ledger. */
  readonly text?: string;
  /** How long the service asks to wait, in milliseconds, where it does. */
  readonly retryAfterMs?: number;
}

const flag = (text: string | undefined): boolean | undefined => (text === undefined ? undefined : text === 'true');

/** The service answered with an error. Whether it is transient, {@link isTransient} tells. */
export class ApiError extends Error {
  /** The class's name. */
  override readonly name = 'ApiError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'ApiError' as const;
  /** How often and how long a feed has asked again before it gave up with this error; absent otherwise. */
  declare readonly retried?: Retried;
  /** The path of the request. */
  readonly path: string;
  /** The HTTP status. */
  readonly status: number;
  /** The ledger's id of the error, such as `INVALID_ARGUMENT`; `NA` where it keeps it to itself, absent for a proxy. */
  readonly code: string | undefined;
  /** The ledger's category, 1 to 14; -1 where it keeps it to itself, absent for a proxy. */
  readonly errorCategory: number | undefined;
  /** The ledger's explanation, or the first words of another answer. */
  readonly reason: string;
  /** By which the operator finds the error in the logs. */
  readonly correlationId: string | undefined;
  /** Facts of the error, as the ledger gives them. */
  readonly context: Readonly<Record<string, string>>;
  /**
   * Whether this try of a submission has certainly failed; absent where the service does not say. Of `DUPLICATE_COMMAND`
   * it is true as well, where an earlier try was committed.
   */
  readonly definiteAnswer: boolean | undefined;
  /** How long the service asks to wait, in milliseconds, where it does. */
  readonly retryAfterMs: number | undefined;

  constructor({ path, status, canton, text = '', retryAfterMs }: ApiErrorFacts) {
    const reason = canton?.cause ?? text;
    super(
      lines(`The ledger service answered ${status}${reason === '' ? '.' : `: ${reason}`}`, {
        Code: canton?.code,
        Category: canton?.errorCategory,
        Path: path,
        Correlation: canton?.correlationId,
      }),
    );
    this.path = path;
    this.status = status;
    this.code = canton?.code;
    this.errorCategory = canton?.errorCategory;
    this.reason = reason;
    this.correlationId = canton?.correlationId;
    this.context = canton?.context ?? {};
    this.definiteAnswer = canton?.definiteAnswer ?? flag(canton?.context['definite_answer']);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether a value is an {@link ApiError}. */
export const isApiError = (u: unknown): u is ApiError => hasTag(u, 'ApiError');

/** What an answer that is no success tells. */
interface FailedAnswer {
  /** The path of the request. */
  readonly path: string;
  /** The HTTP status. */
  readonly status: number;
  /** The body, whatever it is. */
  readonly text: string;
  /** How long the service asks to wait, in milliseconds, where it does. */
  readonly retryAfterMs?: number;
  /** What was sent and must not be quoted: a service, or a proxy that shows what it got, may send it back. */
  readonly secrets?: readonly string[];
}

/** The typed error of an answer that is no success: of the ledger, of a proxy, of nobody knows whom. */
export function errorOf({ text, secrets = [], ...answer }: FailedAnswer): ApiError | PrunedError {
  const quoted = (words: string): string => quotable(words, secrets);
  const canton = cantonErrorIn(text);
  if (canton === undefined) return new ApiError({ ...answer, text: firstWords(quoted(text)) });
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

function cantonErrorIn(text: string): JsCantonError | undefined {
  try {
    const decoded = JsCantonError.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}

/** Enough of a proxy's page to recognise it. What looks like JSON may be data, wherever it stands, and says little to people. */
const firstWords = (text: string): string =>
  text
    .replace(/(["[{]|&quot;).*/s, '')
    .trim()
    .slice(0, 200);

function earliestOffset({ context }: JsCantonError): Offset | undefined {
  const text = context['earliest_offset'] ?? '';
  const offset = /^\d+$/.test(text) ? Number(text) : undefined;
  return Offset.is(offset) ? offset : undefined;
}
