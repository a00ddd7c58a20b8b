import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BuildOptions } from 'esbuild';
import { angular, bundled } from './bundled.js';
import { project, type Project } from './project.js';

/** Strings that identify what a bundle contains: codecs of requests, codecs of updates, an error. */
const requests = ['UpdatesRequest', 'PrepareRequest', 'ExecuteRequest', 'DeduplicationPeriod', 'PrefetchContractKey'];
const preparing = ['PrepareRequest', 'PrefetchContractKey'];
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
  { app: 'ofVariant', plain: 2_650, angular: 1_920, packages: flows, marks: [] },
  { app: 'toEvents', plain: 5_360, angular: 4_000, packages: flows, marks: [] },
  { app: 'toEither', plain: 5_760, angular: 4_380, packages: flows, marks: errors },
  { app: 'acsDelta', plain: 555, angular: 555, packages: own, marks: [] },
  { app: 'webCryptoSigner', plain: 873, angular: 873, packages: own, marks: [] },
  { app: 'Offset', plain: 2_600, angular: 2_600, packages: decodes, marks: [] },
  { app: 'Update', plain: 5_680, angular: 5_680, packages: decodes, marks: updates },
  { app: 'PrepareRequest', plain: 5_060, angular: 5_060, packages: decodes, marks: preparing },
  { app: 'createLedger', plain: 35_200, angular: 33_400, packages: all, marks },
  { app: 'createLedgerReader', plain: 29_900, angular: 28_200, packages: all, marks: reading },
  {
    app: 'a feed with its operators',
    program: `
      import { acsDelta, createLedger, ofEvent, toEvents } from 'canton-rx';
      createLedger({ baseUrl: 'http://127.0.0.1:1' })
        .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) })
        .pipe(toEvents(), ofEvent('CreatedEvent'))
        .subscribe(console.log);`,
    plain: 35_400,
    angular: 33_500,
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
    plain: 44_300,
    angular: 42_200,
    packages: all,
    marks,
  },
  {
    app: 'all of canton-rx',
    program: "import * as all from 'canton-rx'; console.log(all);",
    plain: 38_700,
    angular: 36_900,
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
  { entry: 'canton-rx/verify', imported: 'preparedTransactionVerifier', budget: 4_150, how: {} },
  {
    entry: 'canton-rx/angular',
    imported: 'provideLedger, injectLedger, withAngularHttp, withServerFeeds',
    budget: 36_000,
    how: angular,
    packages: all,
  },
  { entry: 'canton-rx/process', imported: 'memoryStore', budget: 220, how: angular },
  { entry: 'canton-rx/process', imported: 'toStatus, isReady', budget: 6_810, how: angular, packages: flows },
  {
    entry: 'canton-rx/process',
    imported: 'processFeed, updatesFeed',
    budget: 29_900,
    how: angular,
    packages: decodes.concat('rxjs'),
  },
  { entry: 'canton-rx/indexeddb', imported: 'indexedDbStore', budget: 590, how: {} },
  { entry: 'canton-rx/file', imported: 'fileStore', budget: 1_880, how: { platform: 'node' } },
  { entry: 'canton-rx/postgres', imported: 'postgresStore', budget: 10_900, how: {}, packages: flows },
  {
    entry: 'canton-rx/nats',
    imported: 'natsRelay, natsFeed',
    budget: 17_800,
    how: {},
    packages: decodes.concat('rxjs'),
  },
  { entry: 'canton-rx/otel', imported: 'traceHandler, linkTo, contextOf', budget: 7_850, how: {}, packages: flows },
  { entry: 'canton-rx/otel', imported: 'createTracedLedger', budget: 41_400, how: {}, packages: all },
  { entry: 'canton-rx/sandbox', imported: 'startSandbox', budget: 26_000, how: { platform: 'node' } },
  { entry: 'canton-rx/ws', imported: 'webSocketTransport', budget: 21_000, how: {}, packages: decodes.concat('rxjs') },
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
