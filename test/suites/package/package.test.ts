import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSandbox } from '../../../src/sandbox/index.js';
import { angular, bundled } from './bundled.js';
import { type Printed, project, root, type Project } from './project.js';

let app: Project;
beforeAll(async () => {
  app = await project();
});
afterAll(() => app.remove(), 60_000);

/** Writes a program, and runs it. */
const run = async (file: string, program: string): Promise<Printed> => {
  await app.write(file, program);
  return app.run('node', file);
};

const requires = (entry: string, name: string): string => `console.log(typeof require('canton-rx/${entry}').${name});`;

const use = `
  const ledger = createLedger({ baseUrl: 'http://127.0.0.1:1' });
  console.log(typeof ledger.updates, Offset.is(1), typeof startSandbox);
`;

describe('the packed library', () => {
  it('works from an ES module', async () => {
    const printed = await run(
      'use.mjs',
      `import { createLedger, Offset } from 'canton-rx'; import { startSandbox } from 'canton-rx/sandbox'; ${use}`,
    );
    expect(printed).toEqual({ stdout: 'function true function\n', stderr: '' });
  });

  it('works from CommonJS, without a warning', async () => {
    const printed = await run(
      'use.cjs',
      `const { createLedger, Offset } = require('canton-rx'); const { startSandbox } = require('canton-rx/sandbox'); ${use}`,
    );
    expect(printed).toEqual({ stdout: 'function true function\n', stderr: '' });
  });

  it('reads a feed end to end', async () => {
    const { stdout } = await run(
      'feed.mjs',
      `import { lastValueFrom, take, toArray } from 'rxjs';
       import { acsDelta, createLedger } from 'canton-rx';
       import { startSandbox } from 'canton-rx/sandbox';
       const sandbox = await startSandbox();
       sandbox.generate(300);
       const feed$ = createLedger({ baseUrl: sandbox.url }).updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
       const seen = await lastValueFrom(feed$.pipe(take(100), toArray()));
       await sandbox.close();
       console.log(seen.length);`,
    );
    expect(stdout).toBe('100\n');
  });

  it('reads a feed end to end in a bundle without the syntax that Angular replaces', async () => {
    const sandbox = await startSandbox();
    sandbox.generate(300);
    const program = `
      import { lastValueFrom, toArray } from 'rxjs';
      import { acsDelta, createLedger } from 'canton-rx';
      const request = { beginExclusive: 0, endInclusive: ${sandbox.ledgerEnd}, updateFormat: acsDelta({ parties: 'any' }) };
      const feed$ = createLedger({ baseUrl: '${sandbox.url}' }).updates(request);
      console.log((await lastValueFrom(feed$.pipe(toArray()))).length > 100);`;
    // as Angular's builder: esbuild moves an object rest out of the parameters, where no default can refer to it
    const { text } = await bundled(app.folder, program, { ...angular, supported: { 'object-rest-spread': false } });
    await app.write('lowered.mjs', text);
    try {
      expect(await app.run('node', 'lowered.mjs')).toEqual({ stdout: 'true\n', stderr: '' });
    } finally {
      await sandbox.close();
    }
  });

  it.each(['createLedger', 'createLedgerReader'])('processes a feed end to end: %s', async (create) => {
    const { stdout } = await run(
      'process.mjs',
      `import { count, lastValueFrom } from 'rxjs';
       import { acsDelta, ${create} } from 'canton-rx';
       import { memoryStore, processFeed, updatesFeed } from 'canton-rx/process';
       import { startSandbox } from 'canton-rx/sandbox';
       const sandbox = await startSandbox();
       sandbox.generate(300);
       const ledger = ${create}({ baseUrl: sandbox.url });
       const request = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat: acsDelta({ parties: 'any' }) };
       const read = await lastValueFrom(ledger.updates(request).pipe(count(({ _tag }) => _tag !== 'OffsetCheckpoint')));
       let handled = 0;
       const options = { name: 'count', store: memoryStore() };
       const { offset } = await lastValueFrom(processFeed(updatesFeed(ledger, request), () => (handled += 1), options));
       console.log(handled === read, offset === sandbox.ledgerEnd);
       await sandbox.close();`,
    );
    expect(stdout).toBe('true true\n');
  });

  it('shows live contracts end to end', async () => {
    const { stdout } = await run(
      'contracts.mjs',
      `import { firstValueFrom } from 'rxjs';
       import { createLedgerReader } from 'canton-rx';
       import { contractChanges, liveContracts } from 'canton-rx/contracts';
       import { startSandbox } from 'canton-rx/sandbox';
       const sandbox = await startSandbox();
       sandbox.generate(300);
       const ledger = createLedgerReader({ baseUrl: sandbox.url });
       const contracts = await firstValueFrom(liveContracts(ledger, { parties: 'any' }).all$());
       const reset = await firstValueFrom(contractChanges(ledger, { parties: 'any' }));
       console.log(contracts.length > 10, reset.contracts.length === contracts.length, reset.offset === sandbox.ledgerEnd);
       await sandbox.close();`,
    );
    expect(stdout).toBe('true true true\n');
  });

  it('has a sandbox that names the packages that it needs for submissions', async () => {
    await app.write(
      'prepare.mjs',
      `import { startSandbox } from 'canton-rx/sandbox';
       const sandbox = await startSandbox();
       const { party } = sandbox.externalParty('alice');
       const commands = [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments: { owner: party, amount: '1.0', tag: null, serial: '1' } } }];
       const body = JSON.stringify({ commandId: 'c', actAs: [party], commands, synchronizerId: '', packageIdSelectionPreference: [] });
       const answer = await fetch(sandbox.url + '/v2/interactive-submission/prepare', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
       console.log(answer.status, (await answer.text()).match(/@canton-network.core-[a-z-]+/g).join(' '));
       await sandbox.close();`,
    );
    const packages = '@canton-network/core-ledger-proto @canton-network/core-tx-visualizer';
    expect((await app.run('node', 'prepare.mjs')).stdout).toBe(`501 ${packages}\n`);
  });

  it('has a sandbox that names the package that it needs for WebSockets', async () => {
    const { stdout } = await run(
      'upgrade.mjs',
      `import { once } from 'node:events';
       import { get } from 'node:http';
       import { text } from 'node:stream/consumers';
       import { startSandbox } from 'canton-rx/sandbox';
       const sandbox = await startSandbox();
       const headers = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': btoa('0123456789abcdef') };
       const [answer] = await once(get(sandbox.url + '/v2/updates', { headers }), 'response');
       console.log(answer.statusCode, (await text(answer)).match(/npm install .* (ws)@/)[1]);
       await sandbox.close();`,
    );
    expect(stdout).toBe('501 ws\n');
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('type-checks, also in strict mode and without skipLibCheck: module %s', async (module, resolution) => {
    await app.write(
      'use.mts',
      `import { map, type Observable } from 'rxjs';
       import { acsDelta, createLedger, createLedgerReader, ofVariant, type Transaction } from 'canton-rx';
       import { conflate, type ContractOf, liveContracts } from 'canton-rx/contracts';
       import { fileStore } from 'canton-rx/file';
       import { indexedDbStore } from 'canton-rx/indexeddb';
       import { memoryStore, processFeed, updatesFeed, type CheckpointStore } from 'canton-rx/process';
       import type { Sandbox } from 'canton-rx/sandbox';
       import { webSocketTransport } from 'canton-rx/ws';
       const ledger = createLedger({ baseUrl: 'http://127.0.0.1:1', token: () => Promise.resolve('t') });
       const updateFormat = acsDelta({ parties: 'any' });
       export const pushed$ = ledger.updates({ beginExclusive: 0, updateFormat }, { transport: webSocketTransport() });
       const updates$ = ledger.updates({ beginExclusive: 0, updateFormat });
       export const transactions$: Observable<Transaction> = updates$.pipe(ofVariant('Transaction'));
       export const offsets$: Observable<number> = transactions$.pipe(map(({ offset }) => offset));
       export const stores: readonly CheckpointStore[] = [fileStore('.'), indexedDbStore(), memoryStore()];
       const feed = updatesFeed(createLedgerReader({ baseUrl: 'http://127.0.0.1:1' }), { beginExclusive: 0, updateFormat });
       export const committed$: Observable<{ readonly offset: number }> = processFeed(feed, ({ offset }) => Promise.resolve(offset));
       export const view = conflate(liveContracts(ledger, { parties: 'any' }), 16);
       export type S = Sandbox;
       export type C = ContractOf<{ readonly iou: { readonly templateId: string; readonly decoder: { readonly run: (u: unknown) => { ok: true; result: number } } } }>;
       // @ts-expect-error -- an offset is a number
       ledger.updates({ beginExclusive: '0', updateFormat });
       // @ts-expect-error -- a transport is made by a function, so that only who uses it loads it
       ledger.updates({ beginExclusive: 0, updateFormat }, { transport: 'websocket' });
       // @ts-expect-error -- a ledger that only reads does not submit
       createLedgerReader({ baseUrl: 'http://127.0.0.1:1' }).submit;
       // @ts-expect-error -- a number is nothing to wait for: a handler that returns a timer has not done its work
       processFeed(feed, ({ offset }) => offset);
       // @ts-expect-error -- a request selects updates by a format or a filter
       ledger.updates({ beginExclusive: 0 });`,
    );
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const flags = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2022',
      '--lib',
      'es2023,dom,dom.iterable',
    ];
    const types = ['--typeRoots', join(root, 'node_modules', '@types'), '--types', 'node'];
    const done = await app.run(
      'node',
      tsc,
      ...flags,
      ...types,
      '--module',
      module,
      '--moduleResolution',
      resolution,
      'use.mts',
    );
    expect(done.stdout).toBe('');
  });

  it('has the options of TanStack Query and DB, without their packages', async () => {
    const { stdout } = await run(
      'tanstack.mjs',
      `import { contractsCollection } from 'canton-rx/tanstack-db';
       import { contractsQuery } from 'canton-rx/tanstack-query';
       console.log(typeof contractsQuery, typeof contractsCollection);`,
    );
    expect(stdout).toBe('function function\n');
  });

  it('saves cursors in files, without other packages', async () => {
    const printed = await run(
      'file.mjs',
      `import { fileStore } from 'canton-rx/file';
       const store = fileStore('.');
       await store.save('orders', { version: 1, offset: 7, recordTimes: {}, selection: 'any' });
       console.log((await store.load('orders')).offset);`,
    );
    expect(printed).toEqual({ stdout: '7\n', stderr: '' });
    expect((await run('file.cjs', requires('file', 'fileStore'))).stdout).toBe('function\n');
  });

  it.each([
    {
      entry: 'verify',
      peers: ['@canton-network/core-ledger-proto@1.7.0', '@canton-network/core-tx-visualizer@1.7.0'],
      program: `import { preparedTransactionVerifier } from 'canton-rx/verify';
        const prepared = { preparedTransaction: 'AAAA', preparedTransactionHash: 'AAAA', hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2' };
        await preparedTransactionVerifier()(prepared, {}).catch(({ reason }) => console.log(reason));`,
      output: 'undecodable',
      name: 'preparedTransactionVerifier',
    },
    {
      entry: 'indexeddb',
      peers: ['idb@8.0.4'],
      program: `import { indexedDbStore } from 'canton-rx/indexeddb';
        await indexedDbStore().load('orders').catch(({ message }) => console.log(message));`,
      output: 'indexedDB is not defined',
      name: 'indexedDbStore',
    },
    {
      entry: 'angular',
      peers: ['core', 'common', 'compiler'].map((name) => `@angular/${name}@21.2.26`),
      program: `import '@angular/compiler'; import { provideLedger } from 'canton-rx/angular';
        console.log(typeof provideLedger({ baseUrl: '' }));`,
      output: 'object',
      name: undefined,
    },
    {
      entry: 'nats',
      peers: ['jetstream', 'kv', 'nats-core'].map((name) => `@nats-io/${name}@3.3.1`),
      program: "import { natsFeed, natsRelay } from 'canton-rx/nats'; console.log(typeof natsRelay, typeof natsFeed);",
      output: 'function function',
      name: 'natsRelay',
    },
    {
      // without an SDK
      entry: 'otel',
      peers: ['@opentelemetry/api@1.9.0'],
      program: `import { lastValueFrom } from 'rxjs';
        import { createLedger } from 'canton-rx';
        import { openTelemetry } from 'canton-rx/otel';
        import { startSandbox } from 'canton-rx/sandbox';
        const sandbox = await startSandbox();
        sandbox.generate(7);
        console.log(await lastValueFrom(createLedger({ baseUrl: sandbox.url, interceptors: [openTelemetry()] }).ledgerEnd()) === sandbox.ledgerEnd);
        await sandbox.close();`,
      output: 'true',
      name: 'linkTo',
    },
  ])('needs the optional packages of canton-rx/$entry only for it, and works with them', async (given) => {
    const { entry, peers, program, output, name } = given;
    const [scope] = /^(?:@[^/]+\/|\w+)/.exec(peers[0] ?? '') ?? [];
    await expect(run(`${entry}.mjs`, program)).rejects.toThrow(`Cannot find package '${scope}`);
    await app.run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...peers);
    expect((await run(`${entry}.mjs`, program)).stdout).toBe(`${output}\n`);
    if (name !== undefined) expect((await run(`${entry}.cjs`, requires(entry, name))).stdout).toBe('function\n');
  });

  it('has a command line', async () => {
    expect((await app.run(join('node_modules', '.bin', 'canton-rx'), '--version')).stdout).toMatch(/\d+\.\d+\.\d+/);
  });

  it('contains the compiled modules, their types and the guides, without source maps', async () => {
    const folder = join(app.folder, 'node_modules', 'canton-rx');
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const kinds = paths
      .map((path) => path.slice(folder.length + 1))
      .map((path) => path.replace(/.*?((\.d)?\.\w+)$/, '$1'));
    expect([...new Set(kinds)].sort()).toEqual(['.d.ts', '.js', '.json', '.md', '.png', '.svg', '.yml', 'LICENSE']);
    expect(paths.filter((path) => path.startsWith(join(folder, 'src')))).toEqual([]);
  });

  it('has guides whose pictures and relative links lead into the package', async () => {
    const folder = join(app.folder, 'node_modules', 'canton-rx');
    const files = await readdir(folder, { recursive: true });
    const guides = files.filter((file) => file.endsWith('.md') && !file.includes('node_modules'));
    const links = guides.map(async (guide) => {
      const text = (await readFile(join(folder, guide), 'utf8')).replace(/^```[^]*?^```$/gm, '');
      const targets = [...text.matchAll(/\]\((?!\w+:|#)([^)#]+)|src="(?!\w+:)([^"]+)"/g)].map(
        ([, link, src]) => link ?? src ?? '',
      );
      return targets
        .filter((target) => !existsSync(join(folder, dirname(guide), target)))
        .map((target) => `${guide}: ${target}`);
    });
    expect(guides.length).toBeGreaterThan(20);
    expect((await Promise.all(links)).flat()).toEqual([]);
  });
});
