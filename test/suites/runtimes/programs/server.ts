import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createLedger } from '../../../../src/index.js';
import { fileStore } from '../../../../src/file/index.js';
import type { Cursor } from '../../../../src/process/index.js';
import { startSandbox } from '../../../../src/sandbox/index.js';
import { undiciPort } from '../../../../src/undici/index.js';
import { lastValueFrom } from 'rxjs';
import { ofEveryRuntime, tryAll, type World } from './capabilities.js';

/** Prints what works in a runtime with files and servers. */
const world = JSON.parse(process.argv[2] ?? '') as World;
const outcomes = await tryAll({
  ...ofEveryRuntime(world),
  fileStore: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'canton-rx-'));
    try {
      await fileStore(folder).save('orders', { version: 1, offset: 7, recordTimes: {}, selection: 'any' });
      const saved = (await fileStore(folder).load('orders')) as Cursor | undefined;
      if (saved?.offset !== 7) throw new Error('not saved');
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  sandbox: async () => {
    const sandbox = await startSandbox();
    sandbox.generate(7);
    const end = await lastValueFrom(createLedger({ baseUrl: sandbox.url }).ledgerEnd());
    await sandbox.close();
    if (end !== sandbox.ledgerEnd) throw new Error(`ends at ${end}`);
  },
  undiciPort: async () => lastValueFrom(createLedger({ baseUrl: world.url, port: undiciPort() }).ledgerEnd()),
});
console.log(JSON.stringify(outcomes));
