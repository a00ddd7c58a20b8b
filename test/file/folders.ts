import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

/** Creates empty folders, which are removed after the tests of the file. */
export function folders(): () => Promise<string> {
  const created: string[] = [];
  afterAll(() => Promise.all(created.map((folder) => rm(folder, { recursive: true, force: true }))));
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'canton-rx-file-'));
    created.push(folder);
    return folder;
  };
}
