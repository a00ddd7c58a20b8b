import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build, type BuildOptions, type Metafile } from 'esbuild';
import { project, root, type Project } from './project.js';

let app: Project;
beforeAll(async () => {
  app = await project();
}, 120_000);
afterAll(() => app.remove());

const use = `
  const ledger = createLedger({ baseUrl: 'http://127.0.0.1:1' });
  console.log(typeof ledger.updates, Offset.is(1), typeof startSandbox);
`;

describe('the packed library', () => {
  it('works from an ES module', async () => {
    await app.write(
      'use.mjs',
      `import { createLedger, Offset } from 'canton-rx'; import { startSandbox } from 'canton-rx/sandbox'; ${use}`,
    );
    expect(await app.run('node', 'use.mjs')).toEqual({ stdout: 'function true function\n', stderr: '' });
  });

  it('works from CommonJS, without a warning', async () => {
    await app.write(
      'use.cjs',
      `const { createLedger, Offset } = require('canton-rx'); const { startSandbox } = require('canton-rx/sandbox'); ${use}`,
    );
    expect(await app.run('node', 'use.cjs')).toEqual({ stdout: 'function true function\n', stderr: '' });
  });

  it('reads a feed end to end', async () => {
    await app.write(
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
    expect((await app.run('node', 'feed.mjs')).stdout).toBe('100\n');
  });

  it('has a sandbox that tells which packages it needs for submissions', async () => {
    await app.write(
      'prepare.mjs',
      `import { startSandbox } from 'canton-rx/sandbox';
       const sandbox = await startSandbox();
       const answer = await fetch(sandbox.url + '/v2/interactive-submission/prepare', { method: 'POST', body: '{}' });
       console.log(answer.status, (await answer.text()).match(/@canton-network.core-[a-z-]+/g).join(' '));
       await sandbox.close();`,
    );
    const packages = '@canton-network/core-ledger-proto @canton-network/core-tx-visualizer';
    expect((await app.run('node', 'prepare.mjs')).stdout).toBe(`501 ${packages}\n`);
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])(
    'type-checks, also strictly and without the DOM of the library checked away: module %s',
    async (module, resolution) => {
      await app.write(
        'use.mts',
        `import { map, type Observable } from 'rxjs';
       import { createLedger, ofVariant, type Transaction } from 'canton-rx';
       import type { Sandbox } from 'canton-rx/sandbox';
       const ledger = createLedger({ baseUrl: 'http://127.0.0.1:1', token: () => Promise.resolve('t') });
       export const transactions$: Observable<Transaction> = ledger.updates({ beginExclusive: 0 }).pipe(ofVariant('Transaction'));
       export const offsets$: Observable<number> = transactions$.pipe(map(({ offset }) => offset));
       export type S = Sandbox;
       // @ts-expect-error -- an offset is a number
       ledger.updates({ beginExclusive: '0' });`,
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
    },
    60_000,
  );

  it('needs the optional packages of the vendor for the verifier alone, and works with them', async () => {
    await app.write(
      'verify.mjs',
      `import { preparedTransactionVerifier } from 'canton-rx/verify';
       const prepared = { preparedTransaction: 'AAAA', preparedTransactionHash: 'AAAA', hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2' };
       await preparedTransactionVerifier()(prepared, {}).catch(({ reason }) => console.log(reason));`,
    );
    await app.write('verify.cjs', "console.log(typeof require('canton-rx/verify').preparedTransactionVerifier);");
    await expect(app.run('node', 'verify.mjs')).rejects.toThrow(/Cannot find package '@canton-network\/core-/);
    const peers = ['core-ledger-proto', 'core-tx-visualizer'].map((name) => `@canton-network/${name}@1.7.0`);
    await app.run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...peers);
    expect((await app.run('node', 'verify.mjs')).stdout).toBe('undecodable\n');
    expect((await app.run('node', 'verify.cjs')).stdout).toBe('function\n');
    const contents =
      "import { preparedTransactionVerifier } from 'canton-rx/verify'; console.log(preparedTransactionVerifier);";
    const { size, inputs } = await bundled(contents);
    const own = await bundled(contents, { external: ['@canton-network/*'] });
    console.log(`the verifier: ${size} bytes gzip, ${own.size} of them ours`);
    expect(own.size).toBeLessThan(6_000);
    expect(Object.keys(inputs).filter((file) => /node_modules.(ky|io-ts|fp-ts)/.test(file))).toEqual([]);
  }, 60_000);

  it('has a command line', async () => {
    expect((await app.run(join('node_modules', '.bin', 'canton-rx'), '--version')).stdout).toMatch(/\d+\.\d+\.\d+/);
  });
});

/** As Angular's builder resolves: rxjs in its ES2015 form. */
const angular: BuildOptions = {
  mainFields: ['es2020', 'es2015', 'module', 'main'],
  conditions: ['es2020', 'es2015', 'module'],
};

const bundled = async (
  contents: string,
  how: BuildOptions = {},
): Promise<{ size: number; inputs: Metafile['inputs'] }> => {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: app.folder },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    logLevel: 'silent',
    ...how,
  });
  return { size: gzipSync(outputFiles?.[0]?.contents ?? '', { level: 9 }).length, inputs: metafile?.inputs ?? {} };
};

describe('a bundle for the browser', () => {
  const everything = "import { createLedger } from 'canton-rx'; console.log(createLedger);";

  it('of createLedger with its dependencies is as small as stated', async () => {
    const { size, inputs } = await bundled(everything, angular);
    const plain = await bundled(everything);
    console.log(
      `createLedger: ${size} bytes gzip as Angular resolves, ${plain.size} by esbuild's own defaults (rxjs in ES5)`,
    );
    // 29 KiB
    expect(size).toBeLessThan(29_696);
    expect(plain.size).toBeLessThan(31_500);
    expect(Object.entries(inputs).filter(([, { format }]) => format === 'cjs')).toEqual([]);
    expect(Object.keys(inputs).filter((file) => /canton-rx.dist.(sandbox|cli)/.test(file))).toEqual([]);
  });

  it('of one operator has nothing else of the library', async () => {
    const { inputs } = await bundled("import { ofVariant } from 'canton-rx'; console.log(ofVariant);");
    const ours = Object.keys(inputs).filter((file) => file.includes('canton-rx/dist') && !file.endsWith('index.js'));
    const { size } = await bundled("import { ofVariant } from 'canton-rx'; console.log(ofVariant);", {
      external: ['rxjs'],
    });
    expect(ours.length).toBeGreaterThan(0);
    expect(size).toBeLessThan(300);
  });
});
