import { JsCantonError } from '../codecs/JsCantonError.js';
import { Offset } from '../codecs/Offset.js';
import { ApiError } from './ApiError.js';
import { quotable } from './internal/quotable.js';
import { PrunedError } from './PrunedError.js';

/** What an answer that is no success tells. */
export interface FailedAnswer {
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

function earliestOffset({ context }: JsCantonError): Offset | undefined {
  const text = context['earliest_offset'] ?? '';
  const offset = /^\d+$/.test(text) ? Number(text) : undefined;
  return Offset.is(offset) ? offset : undefined;
}

/** Enough of a proxy's page to recognise it. What looks like JSON may be data, wherever it stands, and says little to people. */
const firstWords = (text: string): string =>
  text
    .replace(/(["[{]|&quot;).*/s, '')
    .trim()
    .slice(0, 200);
