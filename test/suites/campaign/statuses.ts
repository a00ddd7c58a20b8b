import { asyncScheduler } from 'rxjs';
import { canton, failed, notFound, type Reply } from '../../helpers/scripted.js';

const redacted = canton('NA', -1);

/** Answers after which the same request may succeed. */
export const passing = {
  '408': () => failed(408, ''),
  '409 back-pressure': () => failed(409, canton('PARTICIPANT_BACKPRESSURE', 2)),
  '409 stale authorization': () => failed(409, canton('STALE_STREAM_AUTHORIZATION', 2)),
  '425': () => failed(425, 'Too Early'),
  '429 seconds': () => failed(429, '', { 'retry-after': '2' }),
  '429 date': () => failed(429, 'slow down', { 'retry-after': new Date(asyncScheduler.now() + 3_000).toUTCString() }),
  '429 nonsense': () => failed(429, '', { 'retry-after': 'soon' }),
  '429 redacted': () => failed(429, redacted),
  '499': () => failed(499, canton('REQUEST_ABORTED', 1)),
  '500 text': () => failed(500, 'Internal Server Error'),
  '502 html': () => failed(502, '<html><body>Bad Gateway</body></html>'),
  '503 text': () => failed(503, 'The server was not able to produce a timely response to your request.'),
  '503 json': () => failed(503, canton('SERVICE_NOT_RUNNING', 1)),
  '503 redacted': () => failed(503, redacted),
  '504 json': () => failed(504, canton('REQUEST_TIME_OUT', 3)),
  '504 html': () => failed(504, '<html>Gateway Time-out</html>'),
  '400 not yet': () => failed(400, canton('SOMETHING_NOT_YET_THERE', 12)),
} satisfies Record<string, () => Reply>;

/** Answers after which another request is to be made; what they mean depends on what was asked. */
export const turning = {
  '404 path': () => notFound,
  '405 path': () => failed(405, 'Method Not Allowed'),
  '501 path': () => failed(501, ''),
  '403 gateway': () => failed(403, 'forbidden'),
  '400 disabled': () => failed(400, canton('DEPRECATED_API_DISABLED', 9)),
  '413 list': () => failed(413, canton('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2)),
} satisfies Record<string, () => Reply>;

/** Answers that end a feed at once, at whatever path they come. */
export const stopping = {
  '400 json': () => failed(400, canton('INVALID_ARGUMENT', 8)),
  '400 text': () => failed(400, 'Invalid value for: body'),
  '400 redacted': () => failed(400, redacted),
  '400 state': () => failed(400, canton('OFFSET_OUT_OF_RANGE', 9)),
  '403 redacted': () => failed(403, redacted),
  '403 json': () => failed(403, canton('PERMISSION_DENIED', 7)),
  '404 json': () => failed(404, canton('PACKAGE_NAMES_NOT_FOUND', 11)),
  '409 redacted': () => failed(409, redacted),
  '409 exists': () => failed(409, canton('SOMETHING_EXISTS', 10)),
  '413 text': () => failed(413, 'exceeded size limit (8388608 bytes)!'),
  '500 redacted': () => failed(500, redacted),
  '501 redacted': () => failed(501, redacted),
} satisfies Record<string, () => Reply>;

/** Answers that refuse a token. */
export const refusing = {
  '401 redacted': () => failed(401, redacted),
  '401 text': () => failed(401, ''),
  '401 json': () => failed(401, canton('UNAUTHENTICATED', 6)),
  '409 expired': () => failed(409, canton('ACCESS_TOKEN_EXPIRED', 2)),
} satisfies Record<string, () => Reply>;

export const statuses: Readonly<Record<string, () => Reply>> = { ...passing, ...turning, ...stopping, ...refusing };
