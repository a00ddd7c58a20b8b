import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A body that a hostile service sends with status 200. */
export interface Body {
  readonly name: string;
  readonly send: (response: ServerResponse) => void;
}

const plain = (bodies: Readonly<Record<string, string | Uint8Array>>): readonly Body[] =>
  Object.entries(bodies).map(([name, bytes]) => ({ name, send: (response) => response.end(bytes) }));

const special = (name: string, send: Body['send']): Body => ({ name, send });

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));

const levels = 100_000;

/** Bodies that are no valid answer to any request. */
export const bodies: readonly Body[] = [
  ...plain({
    nothing: '',
    blanks: ' \n\t ',
    'one byte': '{',
    'unclosed lists': '['.repeat(levels),
    'unclosed objects': '{"a":'.repeat(levels),
    'a NUL': '\0',
    'a NUL within a string': '["a\0b"]',
    'NULs after a list': '[]\0\0',
    'two byte order marks': '\uFEFF\uFEFF[]',
    NaN: '[NaN]',
    Infinity: '[-Infinity]',
    'half an escape': '["\\u12"]',
    'invalid UTF-8 in the middle': bytes('["a', 0xc3, 0x28, 'b"]'),
    'invalid UTF-8 at the end': bytes('["a"]', 0xe2, 0x82),
    'overlong UTF-8': bytes('["', 0xc0, 0xaf, '"]'),
    'a surrogate in UTF-8': bytes('["', 0xed, 0xa0, 0x80, '"]'),
    'UTF-16': Buffer.from('[{"a":1}]', 'utf16le'),
    HTML: '<!doctype html><title>Sign in</title>',
    null: 'null',
    true: 'true',
    'a number': '7',
    'a string': '"[]"',
    'a number beyond the range of a double': '1e400',
    'a list in a list': '[[]]',
    'lists in lists': '['.repeat(levels) + ']'.repeat(levels),
    'a string of lone surrogates': '"\\ud800\\udfff\\udc00"',
  }),
  special('a content length that is too large', (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('[]', () => response.socket?.destroy());
  }),
  special('a content length that is too small', (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n[]');
  }),
  special('an invalid content length', (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n[]');
  }),
  special('two content lengths', (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[]');
  }),
  special('an invalid chunk', (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n[]\r\n');
  }),
  special('an answer that is not HTTP', (response) => {
    response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');
  }),
  special('headers without an end', (response) => {
    response.socket?.end(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}\r\n[]`);
  }),
  special('invalid gzip', (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('[]')),
  special('truncated gzip', (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[{"update":1}]').subarray(0, 12)),
  ),
  special('invalid brotli', (response) => response.writeHead(200, { 'content-encoding': 'br' }).end('[]')),
];
