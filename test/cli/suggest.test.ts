import { describe, expect, it } from '@jest/globals';
import { suggest } from '../../src/cli/suggest.js';

describe('suggest', () => {
  const commands = ['check', 'contracts', 'tail', 'replay', 'project', 'sandbox', 'demo'];

  it.each([
    ['tial', 'tail'],
    ['tai', 'tail'],
    ['tails', 'tail'],
    ['contract', 'contracts'],
    ['cont', 'contracts'],
    ['reply', 'replay'],
    ['sand', 'sandbox'],
    ['Check', 'check'],
  ])('finds the candidate for %s: %s', (text, expected) => {
    expect(suggest(text, commands)).toBe(expected);
  });

  it.each(['', 'x', 'frobnicate', 'http://127.0.0.1:7575', 'constructor'])('finds none for %j', (text) => {
    expect(suggest(text, commands)).toBeUndefined();
  });

  it('prefers the most similar candidate', () => {
    expect(suggest('tail', ['mail', 'tail'])).toBe('tail');
  });
});
