import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { OffsetCheckpoint } from '../../src/index.js';
import { contextOf, linkTo } from '../../src/otel/index.js';

const hex = (length: number) =>
  fc
    .array(
      fc.integer({ min: 0, max: 15 }).map((digit) => digit.toString(16)),
      { minLength: length, maxLength: length },
    )
    .map((digits) => digits.join(''))
    .filter((text) => /[^0]/.test(text));

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('the trace of an update', () => {
  it('is read from its traceparent', () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.integer({ min: 0, max: 255 }), (traceId, spanId, flags) => {
        const formatted = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
        const update = { traceContext: { traceparent: formatted } };
        const expected = { traceId, spanId, traceFlags: flags % 2, isRemote: true };
        expect(linkTo(update)).toEqual({ context: expected });
        expect(trace.getSpanContext(contextOf(update, ROOT_CONTEXT))).toEqual(expected);
      }),
    );
  });

  it('has the state from its tracestate', () => {
    const link = linkTo({ traceContext: { traceparent, tracestate: 'vendor=7,other=8' } });
    expect(link?.context.traceState?.serialize()).toBe('vendor=7,other=8');
  });

  it.each([
    undefined,
    {},
    { tracestate: 'a=b' },
    { traceparent: '' },
    { traceparent: '00-1-2-01' },
    { traceparent: traceparent.toUpperCase() },
    { traceparent: traceparent.replace(/^00/, 'ff') },
    { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
    { traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01` },
    { traceparent: `${traceparent}0` },
    { traceparent: `${traceparent}-more` },
    { traceparent: `${traceparent}\n` },
  ])('is absent where the traceparent is absent or invalid by W3C: %j', (traceContext) => {
    const update = traceContext === undefined ? {} : { traceContext };
    expect(linkTo(update)).toBeUndefined();
    expect(contextOf(update, ROOT_CONTEXT)).toBe(ROOT_CONTEXT);
  });

  it('is read from a later version, which may have more fields', () => {
    const link = linkTo({ traceContext: { traceparent: `${traceparent.replace(/^00/, '01')}-more` } });
    expect(link?.context.spanId).toBe('00f067aa0ba902b7');
  });

  it('has no state where the tracestate is longer than W3C allows', () => {
    const link = linkTo({ traceContext: { traceparent, tracestate: `a=${'b'.repeat(1_000_000)}` } });
    expect(link?.context.traceState?.serialize()).toBe('');
  });

  it('is absent in whatever a store returns', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (traceContext, traceparent) => {
        expect(linkTo({ traceContext })).toBeUndefined();
        expect(linkTo({ traceContext: { traceparent } })).toBeUndefined();
      }),
    );
  });

  it('is absent in a checkpoint', () => {
    const checkpoint: OffsetCheckpoint = { _tag: 'OffsetCheckpoint', offset: 7, synchronizerTimes: [] };
    expect(linkTo(checkpoint)).toBeUndefined();
  });
});
