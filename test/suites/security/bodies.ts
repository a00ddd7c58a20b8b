import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** What a hostile service answers with a status of success, and what comes of it where nothing else is said. */
export interface Body {
  readonly name: string;
  readonly send: (response: ServerResponse) => void;
  readonly becomes: 'ConnectionError' | 'DecodeError';
}

const plain = (becomes: Body['becomes'], bodies: Readonly<Record<string, string | Uint8Array>>): readonly Body[] =>
  Object.entries(bodies).map(([name, bytes]) => ({ name, becomes, send: (response) => response.end(bytes) }));

const special = (name: string, send: Body['send'], becomes: Body['becomes'] = 'ConnectionError'): Body => ({
  name,
  send,
  becomes,
});

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));

const levels = 100_000;

/** None of these is an answer that anybody asked for. */
export const bodies: readonly Body[] = [
  ...plain('ConnectionError', {
    nothing: '',
    blanks: ' \n\t ',
    'one byte': '{',
    'lists that are not closed': '['.repeat(levels),
    'objects that are not closed': '{"a":'.repeat(levels),
    'a NUL': '\0',
    'a NUL within a string': '["a\0b"]',
    'NULs behind it': '[]\0\0',
    'two marks of byte order': '\uFEFF\uFEFF[]',
    NaN: '[NaN]',
    Infinity: '[-Infinity]',
    'half an escape': '["\\u12"]',
    'no UTF-8 in the middle': bytes('["a', 0xc3, 0x28, 'b"]'),
    'no UTF-8 at the end': bytes('["a"]', 0xe2, 0x82),
    'UTF-8 that is too long': bytes('["', 0xc0, 0xaf, '"]'),
    'a surrogate in UTF-8': bytes('["', 0xed, 0xa0, 0x80, '"]'),
    'UTF-16': Buffer.from('[{"a":1}]', 'utf16le'),
    HTML: '<!doctype html><title>Sign in</title>',
  }),
  ...plain('DecodeError', {
    null: 'null',
    true: 'true',
    'a number': '7',
    'a string': '"[]"',
    'a number beyond all': '1e400',
    'a list in a list': '[[]]',
    'lists in lists': '['.repeat(levels) + ']'.repeat(levels),
    'an update that is a list': '[{"update":[]}]',
    'a string of half characters': '"\\ud800\\udfff\\udc00"',
  }),
  special('a length that is too large', (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('[]', () => response.socket?.destroy());
  }),
  special('a length that is too small', (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n[]');
  }),
  special('a length that is none', (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n[]');
  }),
  special('two lengths', (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[]');
  }),
  special('a chunk that is none', (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n[]\r\n');
  }),
  special('no HTTP', (response) => {
    response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');
  }),
  special('heads without an end', (response) => {
    response.socket?.end(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}\r\n[]`);
  }),
  special('gzip that is none', (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('[]')),
  special('gzip that is cut', (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[{"update":1}]').subarray(0, 12)),
  ),
  special('brotli that is none', (response) => response.writeHead(200, { 'content-encoding': 'br' }).end('[]')),
];
