import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { Spool } from '../../../src/cli/contracts/snapshot.js';

describe('Spool', () => {
  it('returns the lines in their order, however many there are, and leaves no file', () => {
    const before = readdirSync(tmpdir());
    const spool = new Spool();
    const lineOf = (index: number): string => `${index} ${'é漢'.repeat(500)}`;
    // 10 000 000 characters: two and a half times what is held in memory
    const count = 10_000;
    for (let index = 0; index < count; index += 1) spool.add(lineOf(index));
    let next = 0;
    for (const line of spool.lines()) {
      if (line !== lineOf(next)) break;
      next += 1;
    }

    expect(next).toBe(count);
    expect(
      readdirSync(tmpdir()).filter((name) => /^canton-rx-[\da-f-]{36}$/.test(name) && !before.includes(name)),
    ).toEqual([]);
    spool.clear();
    spool.add('again');
    expect([...spool.lines()]).toStrictEqual(['again']);
    spool.clear();
  });

  it('names TMPDIR when it cannot be used', () => {
    const spool = new Spool('/nonexistent');

    expect(() => {
      spool.add('x'.repeat(5_000_000));
    }).toThrow('no temporary file can be created in /nonexistent, the folder of TMPDIR: ENOENT');
  });
});
