import { asyncScheduler } from 'rxjs';
import type { Reply } from '../../helpers/scripted.js';
import { errorBody, errorReply, notFound } from '../../helpers/wire.js';

const redacted = errorBody('NA', -1);

/** Answers after which the same request may succeed. */
export const passing = {
  '408': () => errorReply(408, ''),
  '409 back-pressure': () => errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2)),
  '409 stale authorization': () => errorReply(409, errorBody('STALE_STREAM_AUTHORIZATION', 2)),
  '425': () => errorReply(425, 'Too Early'),
  '429 seconds': () => errorReply(429, '', { 'retry-after': '2' }),
  '429 date': () =>
    errorReply(429, 'slow down', { 'retry-after': new Date(asyncScheduler.now() + 3_000).toUTCString() }),
  '429 nonsense': () => errorReply(429, '', { 'retry-after': 'soon' }),
  '429 redacted': () => errorReply(429, redacted),
  '499': () => errorReply(499, errorBody('REQUEST_ABORTED', 1)),
  '500 text': () => errorReply(500, 'Internal Server Error'),
  '502 html': () => errorReply(502, '<html><body>Bad Gateway</body></html>'),
  '503 text': () => errorReply(503, 'The server was not able to produce a timely response to your request.'),
  '503 json': () => errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1)),
  '503 redacted': () => errorReply(503, redacted),
  '504 json': () => errorReply(504, errorBody('REQUEST_TIME_OUT', 3)),
  '504 html': () => errorReply(504, '<html>Gateway Time-out</html>'),
  '400 not yet': () => errorReply(400, errorBody('SOMETHING_NOT_YET_THERE', 12)),
} satisfies Record<string, () => Reply>;

/** Answers after which the feed makes another request; their meaning depends on the request. */
export const turning = {
  '404 path': () => notFound,
  '405 path': () => errorReply(405, 'Method Not Allowed'),
  '501 path': () => errorReply(501, ''),
  '403 gateway': () => errorReply(403, 'forbidden'),
  '400 disabled': () => errorReply(400, errorBody('DEPRECATED_API_DISABLED', 9)),
  '413 list': () => errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2)),
} satisfies Record<string, () => Reply>;

/**
 * Answers that end a feed at once, on every path. Not among them: a 500 whose reason is withheld, which may pass and is
 * therefore repeated a few times, and a 403 whose reason is withheld, which may be about the end of the token.
 */
export const stopping = {
  '400 json': () => errorReply(400, errorBody('INVALID_ARGUMENT', 8)),
  '400 text': () => errorReply(400, 'Invalid value for: body'),
  '400 redacted': () => errorReply(400, redacted),
  '400 state': () => errorReply(400, errorBody('OFFSET_OUT_OF_RANGE', 9)),
  '403 json': () => errorReply(403, errorBody('PERMISSION_DENIED', 7)),
  '404 json': () => errorReply(404, errorBody('PACKAGE_NAMES_NOT_FOUND', 11)),
  '409 redacted': () => errorReply(409, redacted),
  '409 exists': () => errorReply(409, errorBody('SOMETHING_EXISTS', 10)),
  '413 text': () => errorReply(413, 'exceeded size limit (8388608 bytes)!'),
  '501 redacted': () => errorReply(501, redacted),
} satisfies Record<string, () => Reply>;

/** Answers that refuse a token. */
export const refusing = {
  '401 redacted': () => errorReply(401, redacted),
  '401 text': () => errorReply(401, ''),
  '401 json': () => errorReply(401, errorBody('UNAUTHENTICATED', 6)),
  '409 expired': () => errorReply(409, errorBody('ACCESS_TOKEN_EXPIRED', 2)),
} satisfies Record<string, () => Reply>;

export const statuses: Readonly<Record<string, () => Reply>> = { ...passing, ...turning, ...stopping, ...refusing };
