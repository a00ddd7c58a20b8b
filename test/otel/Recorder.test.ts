import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { ConnectionError, RequestTimeoutError } from '../../src/errors/request.js';
import { errorTypeOf, Recorder } from '../../src/otel/Recorder.js';
import { cantonError } from '../../src/sandbox/index.js';
import { upTo } from '../helpers/world.js';

const apiError = (status: number, code?: string): ApiError => {
  if (code === undefined) return new ApiError({ path: '/v2/updates', status, text: 'words' });
  const canton = JsCantonError.decode(cantonError(code));
  if (canton._tag === 'Left') throw new Error('not an error of the ledger');
  return new ApiError({ path: '/v2/updates', status, canton: canton.right });
};

describe('the type of an error', () => {
  it.each([
    [apiError(503, 'SERVICE_NOT_RUNNING'), 'SERVICE_NOT_RUNNING'],
    [apiError(401, 'NA'), '401'],
    [apiError(502), '502'],
    [apiError(400, 'words for people'), '400'],
    [new ConnectionError('/v2/updates', 'the connection failed', 'ECONNRESET'), 'ECONNRESET'],
    [new ConnectionError('/v2/updates', 'there was no answer'), 'ConnectionError'],
    [new RequestTimeoutError('/v2/updates', 1), 'RequestTimeoutError'],
    [new RangeError('words'), 'RangeError'],
    [Object.assign(new Error('words'), { name: 'words for people' }), '_OTHER'],
    ['words', '_OTHER'],
    [undefined, '_OTHER'],
  ])('is a code, a status or a name: %p', (error, type) => {
    expect(errorTypeOf(error)).toBe(type);
  });

  it('never contains text for people, whatever is thrown', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(errorTypeOf(thrown)).toMatch(/^\w{1,80}$/);
      }),
    );
  });
});

describe('a recorder', () => {
  it('keeps the first 50 synchronizers, however often they occur, and has one label for all others', () => {
    const { synchronizerLabel } = new Recorder({}, {});
    const known = upTo(50).map((n) => `synchronizer-${n}`);
    expect(known.map(synchronizerLabel)).toEqual(known);
    expect(['other-1', ...known, 'other-2'].map(synchronizerLabel)).toEqual(['_OTHER', ...known, '_OTHER']);
  });

  it('keeps the first 100 types of errors, and has one for all others', () => {
    const recorder = new Recorder({}, {});
    const named = (name: string) => Object.assign(new Error('words'), { name });
    const known = upTo(100).map((n) => `Error${n}`);
    expect(known.map((name) => recorder.errorType(named(name)))).toEqual(known);
    expect(['Other', ...known].map((name) => recorder.errorType(named(name)))).toEqual(['_OTHER', ...known]);
  });
});
