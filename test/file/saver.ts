import { writeSync } from 'node:fs';
import { argv } from 'node:process';
import { firstValueFrom, from, lastValueFrom } from 'rxjs';
import { fileStore } from '../../src/file/index.js';
import { Cursor } from '../../src/process/CheckpointStore.js';

/** A process that saves one cursor after the other, from the one in a folder on, and prints each offset after it is saved. */
const [, , folder = ''] = argv;
const store = fileStore(folder);
const loaded: unknown = await firstValueFrom(from(store.load('a')));
let offset = Cursor.is(loaded) ? loaded.offset : 0;
for (;;) {
  offset += 1;
  // of varying length, so that a file with parts of two cursors is not valid JSON
  const recordTimes = Object.fromEntries(
    Array.from({ length: offset % 50 }, (_, i) => [`s${i}`, '2026-07-24T10:00:00Z']),
  );
  const cursor: Cursor = { version: 1, offset, recordTimes, selection: 'any' };
  await lastValueFrom(from(store.save('a', cursor, undefined)), { defaultValue: undefined });
  writeSync(1, `${offset}\n`);
}
