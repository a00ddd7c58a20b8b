import { isDeepStrictEqual } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@jest/globals';

/** Waits until what is read is what it should be; where it never is, the difference is told. */
export async function comesToBe<Read>(read: () => Promise<Read>, wanted: Read, withinMs = 60_000): Promise<void> {
  const end = Date.now() + withinMs;
  let last = await read();
  while (!isDeepStrictEqual(last, wanted) && Date.now() < end) {
    await wait(20);
    last = await read();
  }
  expect(last).toEqual(wanted);
}
