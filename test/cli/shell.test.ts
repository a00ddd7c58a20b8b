import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { quoteArgument, quoteOption } from '../../src/cli/shell.js';

const argument = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        "'",
        '"',
        '$(date)',
        '`',
        '\\',
        '\n',
        '!',
        '#',
        ' ',
        ';',
        '*',
        '~',
        '\u001b',
        '\u202e',
        'ü',
        '=',
        '-',
      ),
    ),
    { maxLength: 6 },
  )
  // no system passes it on to a process
  .map((parts) => Buffer.from(parts.join('').replaceAll('\0', '')).toString());

describe('quoteArgument', () => {
  it('is what a shell reads as the same argument, whatever it has', () => {
    const texts = fc.sample(argument, { numRuns: 300, seed: 36 });
    const read = execFileSync('sh', ['-c', `printf '%s\\0' ${texts.map(quoteArgument).join(' ')}`], {
      encoding: 'utf8',
    });
    expect(read.split('\0').slice(0, -1)).toEqual(texts);
  });

  it('has no character that controls a terminal', () => {
    fc.assert(
      fc.property(argument, (text) => {
        expect(quoteArgument(text)).not.toMatch(/[^\P{C}\n]/u);
      }),
      { seed: 36 },
    );
  });

  it.each([
    ['order-4711', 'order-4711'],
    ['order #42', "'order #42'"],
    ["it's", String.raw`'it'\''s'`],
    ['', "''"],
    ['Zürich', "'Zürich'"],
    ['a\u001bb', String.raw`'a'"$(printf '\033')"'b'`],
  ])('writes %j as %s', (text, expected) => {
    expect(quoteArgument(text)).toBe(expected);
  });
});

describe('quoteOption', () => {
  it.each([
    ['order #42', "--command-id 'order #42'"],
    ['-x', '--command-id=-x'],
    ['--since $(date)', "--command-id='--since $(date)'"],
  ])('writes an option with the value %j as %s', (value, expected) => {
    expect(quoteOption('command-id', value)).toBe(expected);
  });
});
