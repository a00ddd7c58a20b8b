import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BuildOptions } from 'esbuild';
import { angular, type Bundle, bundled } from './bundled.js';
import { project, type Project, root } from './project.js';

/** Strings that identify what a bundle contains: codecs of requests, codecs of updates, an error. */
const requests = ['UpdatesRequest', 'PrepareRequest', 'ExecuteRequest', 'DeduplicationPeriod', 'PrefetchContractKey'];
const updates = ['CreatedEvent', 'AssignedEvent', 'InterfaceView', 'SynchronizerTime'];
const errors = ['SubmissionExpiredError'];
const marks = [...requests, ...updates, ...errors];
const reading = ['UpdatesRequest', ...updates, ...errors];
const marksIn = (text: string): readonly string[] => marks.filter((mark) => text.includes(`"${mark}"`));

/** A program for the browser, its budget in bytes of gzip, and its contents. */
interface App {
  /** The single name that it imports, unless a program is given. */
  readonly app: string;
  readonly program?: string;
  /** With the defaults of esbuild, which resolve rxjs to ES5. */
  readonly plain: number;
  /** With Angular's resolution. */
  readonly angular: number;
  readonly packages: readonly string[];
  readonly marks: readonly string[];
}

const own = ['canton-rx'];
const flows = ['canton-rx', 'rxjs'];
const decodes = ['canton-rx', 'fp-ts', 'io-ts'];
const all = ['canton-rx', 'fp-ts', 'io-ts', 'ky', 'rxjs'];

// each budget is at most three per cent above the size when it was set
const apps: readonly App[] = [
  { app: 'ofVariant', plain: 2_650, angular: 1_910, packages: flows, marks: [] },
  { app: 'toEvents', plain: 5_300, angular: 4_000, packages: flows, marks: [] },
  { app: 'toEither', plain: 5_770, angular: 4_390, packages: flows, marks: errors },
  { app: 'acsDelta', plain: 830, angular: 830, packages: own, marks: [] },
  { app: 'webCryptoSigner', plain: 873, angular: 873, packages: own, marks: [] },
  { app: 'Offset', plain: 2_560, angular: 2_560, packages: decodes, marks: [] },
  { app: 'Update', plain: 5_800, angular: 5_800, packages: decodes, marks: updates },
  { app: 'createLedger', plain: 67_100, angular: 65_300, packages: all, marks },
  { app: 'createLedgerReader', plain: 49_700, angular: 48_400, packages: all, marks: reading },
  {
    app: 'a feed with its operators',
    program: `
      import { acsDelta, createLedger, ofEvent, toEvents } from 'canton-rx';
      createLedger({ baseUrl: 'http://127.0.0.1:1' })
        .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) })
        .pipe(toEvents(), ofEvent('CreatedEvent'))
        .subscribe(console.log);`,
    plain: 67_100,
    angular: 65_300,
    packages: all,
    marks,
  },
  {
    app: 'a feed by WebSocket',
    program: `
      import { acsDelta, createLedger } from 'canton-rx';
      import { webSocketTransport } from 'canton-rx/ws';
      createLedger({ baseUrl: 'http://127.0.0.1:1', transport: webSocketTransport() })
        .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) })
        .subscribe(console.log);`,
    plain: 70_500,
    angular: 68_600,
    packages: all,
    marks,
  },
  {
    app: 'all of canton-rx',
    program: "import * as all from 'canton-rx'; console.log(all);",
    plain: 77_500,
    angular: 75_700,
    packages: all,
    marks,
  },
];

/** The other entry points, without the optional packages. */
const entries: readonly {
  entry: string;
  imported: string;
  budget: number;
  how: BuildOptions;
  packages?: readonly string[];
}[] = [
  { entry: 'canton-rx/verify', imported: 'preparedTransactionVerifier', budget: 4_800, how: {} },
  {
    entry: 'canton-rx/angular',
    imported: 'provideLedger, injectLedger, withAngularHttp, withServerFeeds',
    budget: 68_100,
    how: angular,
    packages: all,
  },
  { entry: 'canton-rx/process', imported: 'memoryStore', budget: 6_300, how: angular, packages: flows },
  { entry: 'canton-rx/process', imported: 'isReady', budget: 7_400, how: angular, packages: flows },
  {
    entry: 'canton-rx/process',
    imported: 'processFeed, updatesFeed',
    budget: 52_700,
    how: angular,
    packages: decodes.concat('rxjs'),
  },
  {
    entry: 'canton-rx/contracts',
    imported: 'activeContracts, contractChanges, liveContracts',
    budget: 55_900,
    how: angular,
    packages: decodes.concat('rxjs'),
  },
  {
    entry: 'canton-rx/sse',
    imported: 'remoteContracts',
    budget: 29_700,
    how: angular,
    packages: decodes.concat('rxjs'),
  },
  {
    entry: 'canton-rx/sse',
    imported: 'toServerSentEvents, serverSentEventsResponse',
    budget: 15_000,
    how: angular,
    packages: decodes.concat('rxjs'),
  },
  { entry: 'canton-rx/session', imported: 'ledgerSession', budget: 10_300, how: angular, packages: flows },
  { entry: 'canton-rx/tanstack-query', imported: 'contractsQuery', budget: 5_860, how: angular, packages: flows },
  { entry: 'canton-rx/tanstack-db', imported: 'contractsCollection', budget: 2_690, how: angular, packages: flows },
  // RxJS is most of it, which the page that loads it has already
  { entry: 'canton-rx/devtools', imported: 'devtoolsPanel', budget: 9_700, how: {}, packages: flows },
  { entry: 'canton-rx/tokens', imported: 'sumDecimals, compareDecimals', budget: 450, how: angular },
  { entry: 'canton-rx/tokens', imported: 'groupTotals, toTotals', budget: 2_400, how: angular, packages: flows },
  {
    entry: 'canton-rx/tokens',
    imported: 'Holding, tokenCommands, holdingPicker, toTotals',
    budget: 17_100,
    how: angular,
    packages: decodes.concat('rxjs'),
  },
  { entry: 'canton-rx/indexeddb', imported: 'indexedDbStore', budget: 8_400, how: {}, packages: flows },
  { entry: 'canton-rx/file', imported: 'fileStore', budget: 36_500, how: { platform: 'node' }, packages: flows },
  { entry: 'canton-rx/postgres', imported: 'postgresStore', budget: 18_200, how: {}, packages: flows },
  {
    entry: 'canton-rx/nats',
    imported: 'natsRelay, natsFeed',
    budget: 27_700,
    how: {},
    packages: decodes.concat('rxjs'),
  },
  { entry: 'canton-rx/service', imported: 'runService', budget: 40_700, how: { platform: 'node' }, packages: flows },
  { entry: 'canton-rx/otel', imported: 'traceHandler, linkTo, contextOf', budget: 8_700, how: {}, packages: flows },
  { entry: 'canton-rx/otel', imported: 'openTelemetry', budget: 8_600, how: {}, packages: flows },
  {
    entry: 'canton-rx/sandbox',
    imported: 'startSandbox',
    // for Node.js, esbuild takes the CommonJS of io-ts, of which it leaves nothing out
    budget: 100_600,
    how: { platform: 'node' },
    packages: decodes.concat('rxjs'),
  },
  { entry: 'canton-rx/ws', imported: 'webSocketTransport', budget: 28_800, how: {}, packages: decodes.concat('rxjs') },
];

let user: Project;
const weights: string[] = [];
beforeAll(async () => {
  user = await project();
});
afterAll(async () => {
  await user.remove();
  console.log(weights.join('\n'));
});

const prints = (name: string, entry = 'canton-rx'): string =>
  `import { ${name} } from '${entry}'; console.log(${name});`;

describe.each(apps)('a bundle for the browser: $app', ({ app, program = prints(app), ...the }) => {
  it('is within its budget', async () => {
    const plain = await bundled(user.folder, program);
    const asAngular = await bundled(user.folder, program, angular);
    weights.push(`${app}: ${plain.gzip} bytes of gzip, ${asAngular.gzip} as Angular resolves`);
    expect(plain.gzip).toBeLessThanOrEqual(the.plain);
    expect(asAngular.gzip).toBeLessThanOrEqual(the.angular);
  });

  it('contains only what it uses, of the library and of its dependencies', async () => {
    const { text, packages } = await bundled(user.folder, program, angular);
    expect(marksIn(text)).toEqual(the.marks);
    expect(packages).toEqual(the.packages);
  });

  it('contains no CommonJS and no code for Node.js', async () => {
    const { commonJs, inputs } = await bundled(user.folder, program, angular);
    expect(commonJs).toEqual([]);
    expect(inputs.filter((file) => /canton-rx\/dist\/(sandbox|cli|file)\//.test(file))).toEqual([]);
  });
});

/** The programs of the table in docs/performance.md, by its columns. */
const composed: Readonly<Record<string, string>> = {
  '`createLedger`': prints('createLedger'),
  '`createLedgerReader`': prints('createLedgerReader'),
  '`processFeed`, `updatesFeed`': prints('processFeed, updatesFeed', 'canton-rx/process'),
};

/** Its rows, and the files of each. */
const groups: readonly (readonly [string, RegExp])[] = [
  ['ky', /node_modules\/ky\//],
  ['io-ts with fp-ts', /node_modules\/(io|fp)-ts\//],
  ['RxJS with tslib', /node_modules\/(rxjs|tslib)\//],
  ...['codecs', 'errors', 'http', 'client', 'history', 'feed', 'submission', 'ledger', 'operators', 'process'].map(
    (folder) => [`\`${folder}/\``, new RegExp(`canton-rx/dist/${folder}/`)] as const,
  ),
];

/** The size of each group with gzip: its part of the bundle's, by its minified bytes. And the sum. */
function composition({ bytes, gzip }: Bundle): readonly (readonly [string, number])[] {
  const sum = (files: RegExp): number =>
    Object.entries(bytes).reduce((all, [file, part]) => (files.test(file) ? all + part : all), 0);
  const program = /^<stdin>$/;
  const whole = sum(/./) - sum(program);
  const parts = groups.map(([group, files]): [string, number] => [group, (gzip * sum(files)) / whole]);
  return [...parts, ['Together', gzip]];
}

/** In kB of 1000 bytes, with one decimal. */
const kB = (size: number): string => (size < 50 ? '' : (size / 1000).toFixed(1));

describe('the table of what the core weighs', () => {
  it('says what the bundler says, within three per cent', async () => {
    const programs = Object.values(composed);
    const columns = await Promise.all(
      programs.map(async (program) => composition(await bundled(user.folder, program, angular))),
    );
    const rows = [...groups.map(([group]) => group), 'Together'].map((group, row) => ({
      group,
      sizes: columns.map((column) => column[row]?.[1] ?? NaN),
    }));
    weights.push(
      ['kB of gzip', ...Object.keys(composed)].join(' | '),
      ...rows.map(({ group, sizes }) => [group, ...sizes.map(kB)].join(' | ')),
    );
    const documented = await readTable(join(root, 'docs', 'performance.md'), Object.keys(composed));
    expect([...documented.keys()]).toEqual(rows.map(({ group }) => group));
    for (const { group, sizes } of rows) {
      const said = documented.get(group) ?? [];
      // the table has one decimal
      const off = sizes.filter((size, i) => Math.abs((said[i] ?? NaN) - size) > Math.max(0.03 * size, 50));
      expect([group, off]).toEqual([group, []]);
    }
  });
});

/** The sizes in the table of a page that has the given columns, in bytes, by the first cell of each row. */
async function readTable(file: string, columns: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> {
  const cells = (await readFile(file, 'utf8')).split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const head = cells.findIndex((row) => columns.every((column) => row.includes(column)));
  const end = cells.findIndex((row, i) => i > head && row.length === 1);
  return new Map(
    cells.slice(head + 2, end).map(([, group = '', ...sizes]) => [
      group,
      // the line ends with a bar
      sizes.slice(0, -1).map((size) => Number(size) * 1000),
    ]),
  );
}

describe('contracts', () => {
  const feed = `
    import { acsDelta, createLedgerReader } from 'canton-rx';
    const ledger = createLedgerReader({ baseUrl: 'http://127.0.0.1:1' });
    ledger.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }).subscribe(console.log);`;
  const withImport = (names: string): string =>
    `import { ${names} } from 'canton-rx/contracts'; ${feed} console.log(${names});`;

  it.each([
    { names: 'liveContracts', budget: 17_600 },
    { names: 'liveContracts, optimistic', budget: 18_500 },
    { names: 'shareContractsOf', budget: 20_100 },
    { names: 'contractChanges', budget: 16_100 },
    { names: 'activeContracts', budget: 4_200 },
    { names: 'activeContracts, contractChanges, conflate, liveContracts', budget: 18_800 },
  ])('add at most $budget bytes to a program that reads a feed: $names', async ({ names, budget }) => {
    const without = await bundled(user.folder, feed, angular);
    const whole = await bundled(user.folder, withImport(names), angular);
    weights.push(`${names}: ${whole.gzip - without.gzip} bytes of gzip over a feed`);
    expect(whole.gzip - without.gzip).toBeLessThanOrEqual(budget);
  });

  it('add at most 3.5 kB with the hooks of React to a program that shares contracts', async () => {
    const shared = `import { createLedger } from 'canton-rx'; import { conflate, shareContracts } from 'canton-rx/contracts';
      console.log(createLedger, conflate, shareContracts);`;
    const names = 'LedgerProvider, useContract, useContracts, useLedger, useSession, useSubmit';
    const hooks = `import { ${names} } from 'canton-rx/react'; console.log(${names}); ${shared}`;
    const withReact = { ...angular, external: ['react'] };
    const [without, whole] = await Promise.all(
      [shared, hooks].map((program) => bundled(user.folder, program, withReact)),
    );
    const added = (whole?.gzip ?? Infinity) - (without?.gzip ?? 0);
    weights.push(`canton-rx/react: ${added} bytes of gzip over a ledger and shareContracts`);
    expect(added).toBeLessThanOrEqual(3_500);
  });

  it('leave no trace in a program without them', async () => {
    const { inputs, bytes } = await bundled(user.folder, feed, angular);
    expect(inputs.filter((file) => file.includes('canton-rx/dist/contracts/'))).toEqual([]);
    expect(Object.keys(bytes).filter((file) => /Contract(Entry|Type)\.js$/.test(file))).toEqual([]);
  });
});

describe('WebSockets', () => {
  const traces = ['daml.ws.auth', 'WebSocket'];

  it('leave no trace in a program without their transport', async () => {
    const { text } = await bundled(user.folder, prints('createLedger'), angular);
    expect(traces.filter((trace) => text.includes(trace))).toEqual([]);
  });

  it('are those of the platform in a bundle for the browser, and those of the package ws for Node.js', async () => {
    const program = prints('webSocketTransport', 'canton-rx/ws');
    for (const how of [{}, angular]) {
      const { text, inputs } = await bundled(user.folder, program, how);
      expect(traces.filter((trace) => text.includes(trace))).toEqual(traces);
      expect(inputs.filter((file) => file.endsWith('/wsPort.js'))).toEqual([]);
    }
    const { imports } = await bundled(user.folder, program, { platform: 'node', external: ['ws'] });
    expect(imports).toEqual(['ws']);
  });
});

const external = ['@angular/*', '@canton-network/*', '@nats-io/*', '@opentelemetry/*', 'idb', 'pg', 'ws'];
describe.each(entries)('a bundle of $entry: $imported', ({ entry, imported, budget, how, packages = own }) => {
  const bundle = () => bundled(user.folder, prints(imported, entry), { ...how, external });

  it('is within its budget', async () => {
    const { gzip } = await bundle();
    weights.push(`${entry}: ${gzip} bytes of gzip`);
    expect(gzip).toBeLessThanOrEqual(budget);
  });

  it('contains only the dependencies that it uses', async () => {
    expect((await bundle()).packages).toEqual(packages);
  });
});
