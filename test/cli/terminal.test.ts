import { describe, expect, it } from '@jest/globals';
import {
  escapeText,
  formatDuration,
  formatSize,
  jsonLine,
  type Paint,
  paintFor,
  statusLine,
  truncate,
  wrap,
} from '../../src/cli/terminal.js';
import { capture } from './runCli.js';

describe('statusLine', () => {
  const erase = '\r\u001B[K';
  const visibleColours: Paint = (format, text) => `<${String(format)}>${text}<>`;

  it('overwrites itself, and is erased once', () => {
    const { output, text } = capture({ isTTY: true });
    const line = statusLine(output, visibleColours);
    line.clear();
    line.show((paint) => paint('red', 'text'));
    line.clear();
    line.clear();

    expect(text()).toBe(`${erase}<red>text<>${erase}`);
  });

  it('is cut and without colours if it would wrap', () => {
    const { output, text } = capture({ isTTY: true });
    statusLine(output, visibleColours).show((paint) => paint('red', 'x'.repeat(90)));

    expect(text()).toBe(`${erase}${'x'.repeat(78)}…`);
  });

  it('is shown on a terminal without a known width', () => {
    const { output, text } = capture({ isTTY: true, columns: 0 });
    statusLine(output, visibleColours).show((paint) => paint('red', 'text'));

    expect(text()).toBe(`${erase}<red>text<>`);
  });

  it('is not shown without a terminal', () => {
    const { output, text } = capture();
    const line = statusLine(output, visibleColours);
    line.show(() => 'text');
    line.clear();

    expect([text(), line.isVisible]).toStrictEqual(['', false]);
  });
});

describe('paintFor', () => {
  const hasColours = (isTTY: boolean, env: Record<string, string>): boolean =>
    paintFor(capture({ isTTY }).output, env)('red', 'x') !== 'x';

  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: 'false' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('on a terminal %j with %j paints: %j', (isTTY, env, expected) => {
    expect(hasColours(isTTY, env)).toBe(expected);
  });
});

describe('escapeText', () => {
  it('escapes characters that control a terminal, are invisible or change the direction of writing', () => {
    expect(escapeText('a\u001b[1mb\u0085c\u202ed\u200be\u{e0041}f')).toBe(
      'a\\u{1b}[1mb\\u{85}c\\u{202e}d\\u{200b}e\\u{e0041}f',
    );
    expect(escapeText('Zürich, 漢字 😀')).toBe('Zürich, 漢字 😀');
  });
});

describe('jsonLine', () => {
  it('leaves no control character but the line feed at the end', () => {
    expect(jsonLine({ 'a\u001b[1m\u0000\t\u0085\u202e': '漢字' })).toBe(
      String.raw`{"a\u001b[1m\u0000\t\u0085\u202e":"漢字"}` + '\n',
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
