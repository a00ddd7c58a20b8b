import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { firstValueFrom } from 'rxjs';
import { createLedger } from '../../../src/index.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { describeWithPostgres, postgresServer } from '../../helpers/postgresServer.js';
import type { TestServer } from '../../helpers/servers.js';
import type { FlowName, FlowOrders } from './child/flow.js';
import { root } from './project.js';

const dist = join(root, 'dist');
// within the repository, so that its packages are found
const program = join(root, 'node_modules', '.cache', 'flows', 'flow.mjs');

/** The most files in which a flow may call a function. */
const limits: readonly { readonly flow: FlowName; readonly atMost: number }[] = [
  { flow: 'updates', atMost: 34 },
  { flow: 'executeAndWaitForTransaction', atMost: 33 },
  { flow: 'process', atMost: 60 },
];

describeWithPostgres('the files of a flow', () => {
  let database: TestServer;
  let sandbox: Sandbox;
  let orders: Omit<FlowOrders, 'flow'>;

  beforeAll(async () => {
    mkdirSync(join(program, '..'), { recursive: true });
    await build({
      entryPoints: [join(import.meta.dirname, 'child', 'flow.ts')],
      outfile: program,
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      logLevel: 'error',
    });
    [database, sandbox] = await Promise.all([postgresServer(), startSandbox()]);
    sandbox.generate(500);
    const alice = sandbox.externalParty('alice');
    const createArguments = { owner: alice.party, amount: '10.0', tag: null, serial: '1' };
    const prepared = await firstValueFrom(
      createLedger({ baseUrl: sandbox.url }).prepare({
        commandId: 'pay',
        actAs: [alice.party],
        commands: [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }],
      }),
    );
    const { preparedTransaction, preparedTransactionHash, hashingSchemeVersion } = prepared;
    const signatures = [{ party: alice.party, signatures: [alice.sign(preparedTransactionHash)] }];
    orders = {
      dist,
      ledgerUrl: sandbox.url,
      ledgerEnd: sandbox.ledgerEnd,
      databaseUrl: database.url,
      executeRequest: { preparedTransaction, hashingSchemeVersion, partySignatures: { signatures } },
    };
  });
  afterAll(async () => {
    await sandbox.close();
    await database.stop();
  });

  it.each(limits)('$flow are at most $atMost', async ({ flow, atMost }) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify({ ...orders, flow })]);
    const files = JSON.parse(stdout) as readonly string[];
    process.stdout.write(`house: ${flow} calls functions in ${files.length} files: ${files.join(' ')}\n`);
    expect(files.length).toBeLessThanOrEqual(atMost);
  });
});
