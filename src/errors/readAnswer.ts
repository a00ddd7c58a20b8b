import { JsCantonError } from '../codecs/JsCantonError.js';
import { Offset } from '../codecs/scalars.js';
import { ApiError, type ApiErrorFacts } from './ApiError.js';
import { PrunedError } from './feed.js';
import { quotable } from './internal/message.js';
import { isOfHttpLayer, productOf } from './network.js';
import { ConnectionError } from './request.js';
import { cut } from './escapeText.js';

/** A response, and what is known of its request. */
interface HttpAnswer extends Pick<
  ApiErrorFacts,
  'path' | 'status' | 'url' | 'host' | 'answeredBefore' | 'retryAfterMs' | 'missingRight'
> {
  /** The body, of any form. */
  readonly text: string;
  /** The headers. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Parts of the request that the error must not quote, because a participant or a proxy may echo them. */
  readonly secrets?: readonly string[];
}

/**
 * Reads a response. Returns the JSON of a success, in the form that the endpoint has. Otherwise, throws the error that the
 * response is: of the ledger, or of the network if anything else has answered.
 *
 * @param endpoint - the path of the request, without that of the base URL
 */
export function readAnswer(answer: HttpAnswer, endpoint: string): unknown {
  const { status, text } = answer;
  if (status < 200 || status > 299) throw errorOf(answer);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // without the text and the message of JSON.parse, which may both contain a payload
    if (isCut(text)) throw unreadable(answer, 'is not valid JSON');
    throw otherSystem(answer, text.trimStart().startsWith('<') ? 'is a web page' : 'is not JSON');
  }
  if (!isOfEndpoint(endpoint, json)) throw otherSystem(answer, 'is JSON, but not that of a ledger');
  return json;
}

/** Whether a body may be the beginning of JSON. */
const isCut = (text: string): boolean => /^\s*([[{"]|$)/.test(text);

/** The error of a success that another system has sent. Before the first response of a participant, the address is wrong. */
function otherSystem(answer: HttpAnswer, fact: string): ConnectionError {
  const { url, headers = {}, text, answeredBefore } = answer;
  const product = productOf({ headers, text: text.trimStart().startsWith('<') ? text : '' });
  const what = `${fact}${product === undefined ? '' : ` (${product})`}`;
  const hint = `look for a proxy or a login page in front of the ledger, and check the port${url === undefined ? '' : `: ${url}`}`;
  return unreadable(answer, what, hint, answeredBefore === undefined);
}

const unreadable = (
  { path, host, retryAfterMs }: HttpAnswer,
  fact: string,
  hint?: string,
  isPermanent = false,
): ConnectionError => new ConnectionError(path, `the response ${fact}`, { host, hint, isPermanent, retryAfterMs });

/** Whether JSON that does not decode at an endpoint is still that of a ledger. Where responses have no known form, it may be any. */
export const hasForm = (endpoint: string): boolean => forms[endpoint] !== undefined;

/**
 * Whether JSON has the form of an endpoint's responses: an object with one of the fields, or a list of such objects. Of a list,
 * one element suffices, or an error of the ledger in its place: an element that cannot be decoded is still the ledger's. JSON of
 * an endpoint without a form may have any.
 */
function isOfEndpoint(endpoint: string, json: unknown): boolean {
  const { list, fields } = forms[endpoint] ?? {};
  if (list !== undefined)
    return (
      Array.isArray(json) && (json.length === 0 || json.some((element) => hasOne([...list, 'errorCategory'], element)))
    );
  return fields === undefined || hasOne(fields, json);
}

const hasOne = (fields: readonly string[], u: unknown): boolean =>
  typeof u === 'object' && u !== null && fields.some((field) => Object.hasOwn(u, field));

/** The form of the responses of an endpoint. */
interface Form {
  /** The fields of an object, at least one of which every participant sends. */
  readonly fields?: readonly string[];
  /** The same for the elements of a list. */
  readonly list?: readonly string[];
}

const updates: Form = { list: ['update'] };
const completions: Form = { list: ['completionResponse'] };
const transaction: Form = { fields: ['transaction'] };

const forms: Readonly<Partial<Record<string, Form>>> = {
  '/v2/updates': updates,
  '/v2/updates/flats': updates,
  '/v2/updates/update-by-offset': { fields: ['update'] },
  '/v2/updates/update-by-id': { fields: ['update'] },
  '/v2/commands/completions': completions,
  '/v2/commands/command-completions': completions,
  '/v2/commands/submit-and-wait-for-transaction': transaction,
  '/v2/interactive-submission/executeAndWaitForTransaction': transaction,
  '/v2/interactive-submission/prepare': { fields: ['preparedTransaction', 'preparedTransactionHash'] },
  '/v2/state/active-contracts': { list: ['contractEntry'] },
  '/v2/state/active-contracts-page': { fields: ['activeContracts', 'activeAtOffset'] },
  '/v2/state/ledger-end': { fields: ['offset'] },
  '/v2/state/connected-synchronizers': { fields: ['connectedSynchronizers'] },
  '/v2/events/events-by-contract-id': { fields: ['created', 'archived'] },
  '/v2/parties': { fields: ['partyDetails'] },
};

/** The error of a response that is not a success, from the ledger or from anything in front of it. */
export function errorOf(answer: HttpAnswer): ApiError | PrunedError {
  const { text, secrets = [] } = answer;
  const quoted = (words: string): string => quotable(words.replace(rejectedValue, '(data: …)'), secrets);
  const canton = cantonErrorIn(text);
  if (canton === undefined) return foreignError(answer, quoted);
  if (canton.code === 'PARTICIPANT_PRUNED_DATA_ACCESSED')
    return new PrunedError(answer.path, earliestOffsetIn(canton.context));
  const { code, cause, correlationId, context } = canton;
  return new ApiError({
    ...answer,
    isUserRefused: refusesUser(answer.status, text),
    canton: {
      ...canton,
      code: quoted(code),
      cause: quoted(cause),
      ...(correlationId !== undefined && { correlationId: quoted(correlationId) }),
      context: Object.fromEntries(Object.entries(context).map(([key, value]) => [quoted(key), quoted(value)])),
    },
  });
}

/**
 * The value that a participant could not decode, as in `Expected ujson.Str (data: 7)`. It is of a payload, and may have any
 * characters, so that nothing shows where it ends.
 */
const rejectedValue = /\(\s*data\s*[:=].*/is;

/** The error of a response that is not an error of the ledger. A part of it may still be that of the participant. */
function foreignError(answer: HttpAnswer, quoted: (words: string) => string): ApiError {
  const { status, text, headers = {}, answeredBefore } = answer;
  const { location } = headers;
  // any server may refuse a method in the same words, but not where the participant has accepted it
  const isOfLedger = isOfHttpLayer({ status, text }) && !(status === 405 && answeredBefore === 'here');
  return new ApiError({
    ...answer,
    isUserRefused: refusesUser(answer.status, text),
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

/** The earliest offset that the participant still has, if an error names it. */
export function earliestOffsetIn(context: JsCantonError['context']): Offset | undefined {
  const text = context['earliest_offset'] ?? '';
  const offset = /^\d+$/.test(text) ? Number(text) : undefined;
  return Offset.is(offset) ? offset : undefined;
}
