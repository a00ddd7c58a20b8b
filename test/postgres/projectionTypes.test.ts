import { beforeEach, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { firstValueFrom, lastValueFrom, takeWhile } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { ContractTypes } from '../../src/contracts/Contract.js';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { contractsProjection, postgresStore } from '../../src/postgres/index.js';
import { contractsFeed, processFeed } from '../../src/process/index.js';
import { createSandbox } from '../../src/sandbox/index.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { withDatabase } from './support.js';

const asset = contractType('#sandbox-assets:Main:Asset', t.UnknownRecord);
const offer = contractType('#sandbox-assets:Main:Offer', t.UnknownRecord);
const task = contractType('#sandbox-tasks:Tasks.Model:Task', t.UnknownRecord);
const holding = interfaceType('#sandbox-api:Api:Holding', t.UnknownRecord);

const starts: readonly ContractTypes[] = [
  { asset },
  { asset, offer },
  { asset, task },
  { holding },
  { asset, holding },
  { task },
  { asset, offer, holding, task },
];

describeWithPostgres('a projection whose types grow and shrink between two starts', () => {
  const database = withDatabase();
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS contracts CASCADE');
  });

  it('has the contracts and views that each query selects, once, and says which left with their type', async () => {
    const sandbox = createSandbox();
    sandbox.generate(200, { seed: 4 });
    const ledger = createLedger({ baseUrl: 'http://sandbox', port: sandbox.port });
    for (const types of starts) {
      const { pool, read } = database;
      const query = { types, parties: 'any' } as const;
      const end = sandbox.ledgerEnd;
      const committed$ = processFeed(
        contractsFeed(ledger, query, { batchSize: 20 }),
        contractsProjection({ pool, query }),
        {
          name: 'contracts',
          store: postgresStore({ pool }),
        },
      );
      await lastValueFrom(committed$.pipe(takeWhile(({ offset, isCaughtUp }) => !isCaughtUp || offset < end)), {
        defaultValue: undefined,
      });
      const contracts = await firstValueFrom(liveContracts(ledger, query).all$());
      const expected = contracts.flatMap(({ contractId, createdEvent: { createArgument, interfaceViews } }) => [
        ...(createArgument === undefined && interfaceViews.length > 0
          ? []
          : [{ contract_id: contractId, payload_type: 'template', payload: createArgument ?? null }]),
        ...interfaceViews.map(({ viewValue }) => ({
          ...{ contract_id: contractId, payload_type: 'interface', payload: viewValue ?? null },
        })),
      ]);
      const inOrder = (rows: readonly Readonly<Record<string, unknown>>[]) =>
        rows
          .map(({ contract_id, payload_type, payload }) => [contract_id, payload_type, payload])
          .sort((a, b) => (String(a) < String(b) ? -1 : 1));
      expect(inOrder(await read('SELECT * FROM contracts.active()'))).toEqual(inOrder(expected));
      expect(
        await read('SELECT contract_id, template_fqn FROM contracts.creates() GROUP BY 1, 2 HAVING count(*) > 1'),
      ).toEqual([]);
      sandbox.generate(30, { seed: expected.length });
    }
    expect(await database.read('SELECT DISTINCT end_reason AS reason FROM contracts.archives() ORDER BY 1')).toEqual([
      { reason: 'archived' },
      { reason: 'selectionChanged' },
    ]);
  });

  it('has the names of the types of whoever holds the name, also if two versions of a service take turns', async () => {
    const { pool, read } = database;
    const sandbox = createSandbox();
    sandbox.generate(60, { seed: 4 });
    const ledger = createLedger({ baseUrl: 'http://sandbox', port: sandbox.port });
    const alice = sandbox.hostedParty('alice');
    const createArguments = { owner: alice, title: 'a task', due: '2026-12-31', steps: [] };
    const createTask = { CreateCommand: { templateId: '#sandbox-tasks:Tasks.Model:Task', createArguments } };
    /** A process of a version, which keeps its handler while it leads, waits, and leads again. */
    const processOf = (types: ContractTypes) => {
      const query = { types, parties: 'any' } as const;
      const handler = contractsProjection({ pool, query });
      return async (): Promise<void> => {
        const end = sandbox.ledgerEnd;
        const options = { name: 'contracts', store: postgresStore({ pool }) };
        await lastValueFrom(
          processFeed(contractsFeed(ledger, query), handler, options).pipe(
            takeWhile(({ offset, isCaughtUp }) => !isCaughtUp || offset < end),
          ),
          { defaultValue: undefined },
        );
      };
    };
    const names = async (): Promise<unknown> =>
      read(
        "SELECT DISTINCT type_name FROM contracts.projection_templates WHERE entity = 'Asset' AND payload_type = 'template'",
      );
    const leadBefore = processOf({ asset, task });
    const leadAfter = processOf({ thing: asset, task });
    await leadBefore();
    expect(await names()).toEqual([{ type_name: 'asset' }]);
    for (const [lead, type_name] of [
      [leadAfter, 'thing'],
      [leadBefore, 'asset'],
      [leadAfter, 'thing'],
    ] as const) {
      // no asset, which would bring its name with it
      await lastValueFrom(
        ledger.submitAndWaitForTransaction({ commands: [createTask], actAs: [alice], userId: 'app' }),
      );
      await lead();
      expect(await names()).toEqual([{ type_name }]);
    }
  });

  it('has the views that a package gives to contracts while no processor runs, in the history, too', async () => {
    const { pool, read } = database;
    const sandbox = createSandbox();
    sandbox.uploadPackage('sandbox-api', { interfaces: ['Api:Lockable'] });
    sandbox.generate(60, { seed: 4 });
    const ledger = createLedger({ baseUrl: 'http://sandbox', port: sandbox.port });
    const lockable = interfaceType('#sandbox-api:Api:Lockable', t.UnknownRecord);
    const query = { types: { offer, lockable }, parties: 'any' } as const;
    const run = async (): Promise<void> => {
      const end = sandbox.ledgerEnd;
      const options = { name: 'contracts', store: postgresStore({ pool }) };
      const committed$ = processFeed(contractsFeed(ledger, query), contractsProjection({ pool, query }), options);
      await lastValueFrom(committed$.pipe(takeWhile(({ offset, isCaughtUp }) => !isCaughtUp || offset < end)), {
        defaultValue: undefined,
      });
    };
    const active = async (): Promise<readonly unknown[]> =>
      read(`SELECT contract_id, created_at_offset::int AS created, type_name FROM contracts.active()
        ORDER BY created_at_offset, contract_id, type_name DESC`);
    await run();
    const offers = (await active()) as readonly { readonly type_name: string }[];
    expect(new Set(offers.map(({ type_name }) => type_name))).toEqual(new Set(['offer']));
    sandbox.addInterface('#sandbox-assets:Main:Offer', '#sandbox-api:Api:Lockable');
    await run();
    const withViews = offers.flatMap((each) => [each, { ...each, type_name: 'lockable' }]);
    expect(await active()).toEqual(withViews);
    expect(await read("SELECT FROM contracts.archives() WHERE end_reason <> 'archived'")).toEqual([]);
    await run();
    expect(await active()).toEqual(withViews);
  });
});
