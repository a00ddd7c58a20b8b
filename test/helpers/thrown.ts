/** What functions throw that has no text to quote: no error, or an error that merges the body of a response. */
export const withoutText: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['a symbol', Symbol('no')],
  ['an object without a prototype', Object.create(null)],
  ['an error whose message is an object', Object.assign(new Error('no'), { message: { code: 7 } })],
  [
    'an error whose message cannot be read',
    Object.defineProperty(new Error('no'), 'message', {
      get: () => {
        throw new Error('of the getter');
      },
    }),
  ],
];
