import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ShortIds } from '../../src/cli/ShortIds.js';
import { widthOf } from '../../src/cli/terminal.js';

describe('ShortIds', () => {
  it.each([
    ['different names', ['sync1::1220aaaa11', 'sync2::1220bbbb22'], ['sync1', 'sync2']],
    [
      'long names',
      ['global-domain-one::1220aaaa11', 'global-domain-two::1220bbbb22'],
      ['global-doma…', 'global-…bbbb'],
    ],
    ['one name', ['sync::1220aaaa11', 'sync::1220bbbb22', 'sync::1220bbbb33'], ['sync', 'sync…bbbb', 'sync…bb33']],
    [
      'similar fingerprints',
      ['a::1220aaaa1111', 'a::1220aaaa2111', 'a::1220aaaa3111', 'a::1220aaaa4111'],
      ['a', 'a…aaaa', 'a…3111', 'a…4111'],
    ],
    ['no fingerprints', ['global-domain-one', 'global-domain-two'], ['global-doma…', 'global-do…#1']],
  ])('distinguishes ids with %s', (_, ids, expected) => {
    const short = new ShortIds(12);
    const forms = ids.map((id) => short.of(id));
    expect(forms).toEqual(expected);
    expect(ids.map((id) => short.of(id))).toEqual(forms);
  });

  it('has one form for each id, of the width of the column and safe for a terminal', () => {
    const id = fc.tuple(
      fc.constantFrom('global-domain', 'global-domain-1', '漢字かな漢字かな', 'a\u001b[2J', ''),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(
          id.map(([name, end]) => `${name}::1220${end}`),
          { maxLength: 40 },
        ),
        fc.integer({ min: 5, max: 20 }),
        (ids, width) => {
          const short = new ShortIds(width);
          const forms = ids.map((one) => short.of(one));
          expect(new Set(forms).size).toBe(ids.length);
          for (const form of forms) {
            expect(widthOf(form)).toBeLessThanOrEqual(width);
            expect(form).not.toMatch(/\p{C}/u);
          }
        },
      ),
      { seed: 36 },
    );
  });
});
