import { writeSync } from 'node:fs';
import { argv } from 'node:process';
import { firstValueFrom, from, lastValueFrom } from 'rxjs';
import { fileStore } from '../../src/file/index.js';
import { Cursor } from '../../src/process/Cursor.js';

/** Runs as a process of its own: goes on from the cursor in a folder for ever, and prints each offset once it is saved. */
const [, , folder = ''] = argv;
const store = fileStore(folder);
const found: unknown = await firstValueFrom(from(store.load('a')));
let offset = Cursor.is(found) ? found.offset : 0;
for (;;) {
  offset += 1;
  // of changing length, so that a torn file cannot pass for a whole one
  const recordTimes = Object.fromEntries(
    Array.from({ length: offset % 50 }, (_, i) => [`s${i}`, '2026-07-24T10:00:00Z']),
  );
  const cursor: Cursor = { version: 1, offset, recordTimes, selection: 'any' };
  await lastValueFrom(from(store.save('a', cursor, undefined)), { defaultValue: undefined });
  writeSync(1, `${offset}\n`);
}
