import { describe, expect, it } from '@jest/globals';
import { type Paint, paintFor, statusLine } from '../../src/cli/terminal.js';
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
