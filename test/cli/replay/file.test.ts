import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { finalize, lastValueFrom } from 'rxjs';
import { lineFile, openLineFile } from '../../../src/cli/replay/file.js';
import { writeRange } from '../../../src/cli/replay/writeRange.js';
import { openSession } from '../../../src/cli/Session.js';
import { createLedger, type Ledger } from '../../../src/index.js';
import { sandboxes } from '../../helpers/localServers.js';
import { until } from '../../helpers/time.js';
import { capture, parseLines, runCli } from '../runCli.js';

const sandboxWith = sandboxes();
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
  path = join(folder, 'out.ndjson');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A file handle with another `write`. */
const withWrite = (handle: FileHandle, write: unknown): FileHandle =>
  Object.create(handle, { write: { value: write } }) as FileHandle;

describe('lineFile', () => {
  it('writes all lines, however few bytes the disk takes at a time', async () => {
    const opened = await openLineFile(path, 0);
    const { handle } = opened;
    const slow = withWrite(handle, (buffer: Buffer, offset: number, length: number, position: number) =>
      handle.write(buffer, offset, Math.min(length, 3), position),
    );
    const { output, bytes } = lineFile({ ...opened, handle: slow }, path);
    for (let line = 0; line < 20; line += 1) output.write(`line ${line}\n`);
    output.end();
    await once(output, 'finish');
    await handle.close();

    const content = readFileSync(path, 'utf8');
    expect(content.split('\n').slice(0, -1)).toStrictEqual(Array.from({ length: 20 }, (_, line) => `line ${line}`));
    expect(bytes()).toBe(content.length);
  });

  it('fails with the error of the disk', async () => {
    const opened = await openLineFile(path, 0);
    const full = withWrite(opened.handle, () => Promise.reject(new Error('no space left on device')));
    const { output } = lineFile({ ...opened, handle: full }, path);
    output.write('line\n');

    expect(await once(output, 'error')).toStrictEqual([new Error('no space left on device')]);
    await opened.handle.close();
  });
});

describe('writeRange with a disk slower than the ledger', () => {
  it('pauses the feed, and writes every update once and in order', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(3_300);
    const end = sandbox.ledgerEnd;
    const source = createLedger({ baseUrl: sandbox.url });
    let pauses = 0;
    const ledger: Ledger = {
      ...source,
      updates: ((...args: Parameters<Ledger['updates']>) =>
        source.updates(...args).pipe(
          finalize(() => {
            pauses += 1;
          }),
        )) as Ledger['updates'],
    };
    const opened = await openLineFile(path, 0);
    const writes: number[] = [];
    const slow = withWrite(opened.handle, async (...args: [Buffer, number, number, number]) => {
      // the disk stalls until the feed is paused
      if (writes.length === 0) await until(() => pauses > 0);
      // responses that were under way arrive meanwhile
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      writes.push(args[2]);
      return opened.handle.write(...args);
    });
    const target = {
      path,
      manifest: { version: 1, from: 0, to: end, selection: '' },
      opened: { ...opened, handle: slow },
    } as const;
    const names = { parties: 'any', templates: [], variants: [], synchronizers: [] } as const;
    const [stdout, stderr] = [capture().output, capture().output];
    const world = { argv: [], stdout, stderr, signals: new EventEmitter(), env: {} };
    const session = await lastValueFrom(openSession({ ledger: sandbox.url, token: undefined }, world));
    const ended = await lastValueFrom(writeRange({ ...session, ledger }, target, { ...names, isWithEffects: false }));

    const content = readFileSync(path, 'utf8');
    const tail = runCli(['tail', '--ledger', sandbox.url, '--to', String(end)]);
    expect(await tail.code).toBe(0);
    expect(content).toBe(tail.out.text());
    expect(content.length).toBeGreaterThan(2 ** 21);
    // what waits is written at once: the first line, then all lines that the feed added before it was paused
    const [firstLine = 0, waiting = 0] = writes;
    expect(firstLine + waiting).toBeGreaterThanOrEqual(2 ** 20);
    expect(Math.max(...writes)).toBeLessThan(2 ** 20 + 2 ** 16);
    expect(ended).toMatchObject({
      outcome: { kind: 'done' },
      manifest: { complete: { updates: parseLines(content).length, bytes: content.length } },
    });
  });
});
