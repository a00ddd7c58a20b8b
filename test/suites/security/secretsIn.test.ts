import { describe, expect, it } from '@jest/globals';
import { secretsIn } from './secretsIn.js';

const secret = 'TOKEN-SECRET/+"0123456789';
const search = (value: unknown): string[] => secretsIn(value, ['another', secret]);

class WithGetter {
  get deep(): unknown {
    return { secret };
  }
}
const cyclic: Record<string, unknown> = { secret };
cyclic['self'] = cyclic;

describe('secretsIn', () => {
  it.each([
    ['a string', secret],
    ['a key', { [secret]: 1 }],
    ['a property', { a: [{ b: `x${secret}y` }] }],
    ['a hidden property', Object.defineProperty({}, 'hidden', { value: secret, enumerable: false })],
    ['a symbol key', { [Symbol(secret)]: 1 }],
    ['the value of a symbol key', { [Symbol('s')]: secret }],
    ['a prototype', Object.create({ inherited: secret }) as unknown],
    ['a getter of the class', new WithGetter()],
    [
      'a getter that throws',
      {
        get broken() {
          throw new Error(secret);
        },
      },
    ],
    ['a message', new Error(secret)],
    ['a stack', Object.assign(new Error('x'), { stack: secret })],
    ['a cause of a cause', new Error('x', { cause: new Error('y', { cause: { headers: secret } }) })],
    ['one of many errors', new AggregateError([new Error('x'), new Error(secret)])],
    ['a map', new Map([[{ secret }, 1]])],
    ['a set', new Set([[secret]])],
    ['headers', new Headers({ authorization: `Bearer ${encodeURIComponent(secret)}` })],
    ['a buffer', { body: Buffer.from(secret) }],
    ['an array buffer', new TextEncoder().encode(secret).buffer],
    ['a function', Object.assign(() => 1, { secret })],
    ['the result of toJSON', { toJSON: () => ({ secret }) }],
    ['base64', { body: Buffer.from(secret).toString('base64') }],
    ['a URL', { url: `http://h/?q=${encodeURIComponent(secret)}` }],
    ['JSON text', { body: JSON.stringify({ secret }) }],
    ['a cyclic object', cyclic],
  ])('finds a secret in %s', (_, value) => {
    expect(search(value)).not.toEqual([]);
  });

  it('returns the paths', () => {
    expect(search({ a: { b: secret } })).toEqual(['$.a.b', '<inspect>', '<json>']);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an error', new Error('x', { cause: { code: 'ECONNRESET' } })],
    ['a class', Map],
    ['a part of the secret', { half: secret.slice(0, -1) }],
  ])('finds no secret in %s', (_, value) => {
    expect(secretsIn(value, [secret])).toEqual([]);
  });
});
