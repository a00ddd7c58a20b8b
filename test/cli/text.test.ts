import { describe, expect, it } from '@jest/globals';
import { escapeJsonLine, escapeText, formatDuration, formatSize, truncate, wrap } from '../../src/cli/terminal.js';

describe('escapeText', () => {
  it('escapes characters that control a terminal, are invisible or change the direction of writing', () => {
    expect(escapeText('a\u001b[1mb\u0085c\u202ed\u200be\u{e0041}f')).toBe(
      'a\\u{1b}[1mb\\u{85}c\\u{202e}d\\u{200b}e\\u{e0041}f',
    );
    expect(escapeText('Zürich, 漢字 😀')).toBe('Zürich, 漢字 😀');
  });
});

describe('escapeJsonLine', () => {
  it('leaves no control character but the line feed at the end', () => {
    expect(escapeJsonLine('{"a\u001b[1m\u0000\t\u0085\u202e":"漢字"}\n')).toBe(
      String.raw`{"a\u001b[1m\u0000\u0009\u0085\u202e":"漢字"}` + '\n',
    );
  });
});

describe('truncate', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['漢字', 4, '漢字'],
    ['漢字', 3, '漢…'],
    ['漢字', 2, '…'],
    ['abc', 0, ''],
  ])('cuts %j to %d columns', (text, columns, expected) => {
    expect(truncate(text, columns)).toBe(expected);
  });
});

describe('wrap', () => {
  it.each([
    ['a bc def', 8, ['a bc def']],
    ['a bc def', 7, ['a bc', 'def']],
    ['a longer-word b', 4, ['a', 'longer-word', 'b']],
    ['', 4, ['']],
  ])('breaks %j into lines of %d columns', (text, columns, expected) => {
    expect(wrap(text, columns)).toStrictEqual(expected);
  });
});

describe('formatSize', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.0 kB'],
    [4_372_970, '4.4 MB'],
    [5e12, '5.0 TB'],
    [5e15, '5000.0 TB'],
  ])('formats %d bytes', (bytes, expected) => {
    expect(formatSize(bytes)).toBe(expected);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 s'],
    [59.4, '59 s'],
    [250, '4 min 10 s'],
    [3_600, '1 h'],
    [3_605, '1 h'],
    [93_900, '1 d 2 h'],
  ])('formats %d seconds', (seconds, expected) => {
    expect(formatDuration(seconds)).toBe(expected);
  });
});
