import { JsCantonError } from '../codecs/JsCantonError.js';
import { Offset } from '../codecs/Offset.js';
import { ApiError } from './ApiError.js';
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
}

/** The typed error of an answer that is no success: of the ledger, of a proxy, of nobody knows whom. */
export function errorOf({ text, ...answer }: FailedAnswer): ApiError | PrunedError {
  const canton = cantonErrorIn(text);
  if (canton?.code === 'PARTICIPANT_PRUNED_DATA_ACCESSED') return new PrunedError(answer.path, earliestOffset(canton));
  return new ApiError(canton === undefined ? { ...answer, text: firstWords(text) } : { ...answer, canton });
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

/** Enough of a proxy's page to recognise it. What looks like JSON may be data, and says little to people. */
const firstWords = (text: string): string =>
  /^\s*[[{"]/.test(text) ? '' : text.slice(0, 1_000).replace(/\s+/g, ' ').trim().slice(0, 200);
