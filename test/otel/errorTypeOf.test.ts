import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { ApiError } from '../../src/errors/ApiError.js';
import { ConnectionError, RequestTimeoutError } from '../../src/errors/request.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { atMostDistinct, errorTypeOf } from '../../src/otel/Recorder.js';
import { cantonError } from '../../src/sandbox/index.js';

const answered = (status: number, code?: string): ApiError => {
  if (code === undefined) return new ApiError({ path: '/v2/updates', status, text: 'words' });
  const canton = JsCantonError.decode(cantonError(code));
  if (canton._tag === 'Left') throw new Error('no error of the ledger');
  return new ApiError({ path: '/v2/updates', status, canton: canton.right });
};

describe('the kind of an error', () => {
  it.each([
    [answered(503, 'SERVICE_NOT_RUNNING'), 'SERVICE_NOT_RUNNING'],
    [answered(401, 'NA'), '401'],
    [answered(502), '502'],
    [answered(400, 'words that somebody reads'), '400'],
    [new ConnectionError('/v2/updates', 'the connection failed', 'ECONNRESET'), 'ECONNRESET'],
    [new ConnectionError('/v2/updates', 'there was no answer'), 'ConnectionError'],
    [new RequestTimeoutError('/v2/updates', 1), 'RequestTimeoutError'],
    [new RangeError('words'), 'RangeError'],
    [Object.assign(new Error('words'), { name: 'words that somebody reads' }), '_OTHER'],
    ['words', '_OTHER'],
    [undefined, '_OTHER'],
  ])('is a code, a status or a name: %p', (error, kind) => {
    expect(errorTypeOf(error)).toBe(kind);
  });

  it('never is what somebody wrote, whatever is thrown', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(errorTypeOf(thrown)).toMatch(/^\w{1,80}$/);
      }),
    );
  });
});

describe('a bounded set of texts', () => {
  it('lets the first of them through, however often, and calls the others by one name', () => {
    const bounded = atMostDistinct(2);
    expect(['a', 'b', 'a', 'c', 'b', 'd'].map(bounded)).toEqual(['a', 'b', 'a', '_OTHER', 'b', '_OTHER']);
  });
});
