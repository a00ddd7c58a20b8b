import { generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { firstValueFrom, map } from 'rxjs';
import { contractType, create, createLedger } from '../../../src/index.js';
import { remoteContracts } from '../../../src/sse/index.js';
import { observe } from '../../helpers/observe.js';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import { freePort } from '../../helpers/servers.js';
import { until } from '../../helpers/time.js';
import { type Given, nestExample } from './nest/example.js';
import { type Login, startLogin } from './nest/login.js';
import type { Service } from './nest/service.js';
import { openStream, type Stream } from './nest/stream.js';

const example = nestExample();
const providers: Login[] = [];
afterEach(async () => {
  await Promise.all(providers.splice(0).map(({ close }) => close()));
});

const givenLogin = async (...settings: readonly [tokenSeconds?: number, port?: number]): Promise<Login> => {
  const login = await startLogin(example.installedAt(), ...settings);
  providers.push(login);
  return login;
};

const Task = contractType(
  '#sandbox-tasks:Tasks.Model:Task',
  t.type({ owner: t.string, title: t.string, due: t.string, steps: t.array(t.string) }),
);

interface World extends Given {
  readonly login: Login;
  readonly partyOf: (user: string) => string;
  readonly addTask: (user: string, title: string) => Promise<unknown>;
  readonly grant: (user: string, party: string) => Promise<unknown>;
  readonly revoke: (user: string) => Promise<unknown>;
}

/** The service with two users, each with a right and a task. */
async function givenUsers(): Promise<World> {
  const login = await givenLogin();
  const given = await example.given(() => ({ LOGIN_ISSUER: login.issuer }), 0);
  const { sandbox, database } = given;
  const ledger = createLedger({ baseUrl: sandbox.url });
  const parties = new Map(['alice', 'bob'].map((user) => [user, sandbox.hostedParty(user)]));
  const partyOf = (user: string): string => parties.get(user) ?? '';
  const addTask = (user: string, title: string): Promise<unknown> => {
    const command = create(Task, { owner: partyOf(user), title, due: '2030-01-01', steps: [] });
    return firstValueFrom(
      ledger.submitAndWaitForTransaction({ userId: 'tests', actAs: [partyOf(user)], commands: [command] }),
    );
  };
  // the first request makes the tables
  await statusWith(given.one, await login.token('nobody'));
  const grant = (user: string, party: string): Promise<unknown> =>
    database.pool.query('INSERT INTO users.rights VALUES ($1, $2)', [user, party]);
  for (const user of parties.keys()) {
    await grant(user, partyOf(user));
    await addTask(user, `secret of ${user}`);
  }
  const revoke = (user: string): Promise<unknown> =>
    database.pool.query('DELETE FROM users.rights WHERE subject = $1', [user]);
  return { ...given, login, partyOf, addTask, grant, revoke };
}

/** The status of the answer to a request with a token. */
async function statusWith({ url }: Service, token: string | undefined): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status, body } = await fetch(`${url}/my/contracts`, { headers });
  await body?.cancel();
  return status;
}

const open = (
  { url }: Service,
  token: string,
  headers: Readonly<Record<string, string>> = {},
  path = '',
): Promise<Stream> => openStream(`${url}/my/contracts${path}`, { authorization: `Bearer ${token}`, ...headers });

const textOf = ({ messages }: Stream): string => JSON.stringify(messages);

/** The titles that a page of a user shows, as they change. */
const watch = ({ url }: Service, token: string) =>
  observe(
    remoteContracts(
      `${url}/my/contracts`,
      { types: { task: Task } },
      { token, retry: { baseDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 500 } },
    )
      .all$()
      .pipe(map((contracts) => contracts.map((each) => (each._tag === 'Contract' ? each.payload.title : '?')).join())),
  );

describeWithPostgres('the contracts of a user', () => {
  it('are sent to nobody else, and follow the rights and the logout of the user at once', async () => {
    const { one, database, login, partyOf, addTask, grant, revoke } = await givenUsers();
    const tokens = {
      alice: await login.token('alice'),
      bob: await login.token('bob'),
      carol: await login.token('carol'),
    };
    const pages = { alice: watch(one, tokens.alice), bob: watch(one, tokens.bob) };
    await until(() => pages.alice.values.at(-1) === 'secret of alice');
    await until(() => pages.bob.values.at(-1) === 'secret of bob');
    await addTask('bob', 'another secret of bob');
    await until(() => pages.bob.values.at(-1) === 'secret of bob,another secret of bob');

    // what another user or a header says changes nothing
    const ofAlice = await open(one, tokens.alice);
    await until(() => textOf(ofAlice).includes('secret of alice'));
    const stolen = { 'last-event-id': String(ofAlice.messages.at(-1)?.id), 'x-party': partyOf('alice') };
    const query = `?parties=${encodeURIComponent(partyOf('alice'))}&subject=alice`;
    const ofBob = await open(one, tokens.bob, stolen, query);
    await until(() => textOf(ofBob).includes('another secret of bob'));
    const ofCarol = await open(one, tokens.carol, stolen, query);
    await until(() => ofCarol.messages.length > 0);
    for (const stream of [ofBob, ofCarol]) {
      expect(textOf(stream)).not.toContain('secret of alice');
      expect(textOf(stream)).not.toContain(partyOf('alice'));
      expect(stream.messages[0]?.type).toBe('reset');
      stream.close();
    }
    expect(textOf(ofAlice)).not.toContain('bob');

    await revoke('bob');
    await until(() => pages.bob.values.at(-1) === '');
    await grant('bob', partyOf('alice'));
    await until(() => pages.bob.values.at(-1) === 'secret of alice');
    // the connection that is notified is lost
    await database.pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN users'`);
    await revoke('bob');
    await until(() => pages.bob.values.at(-1) === '');
    expect(pages.alice.values.at(-1)).toBe('secret of alice');

    const logout = { method: 'POST', headers: { authorization: `Bearer ${tokens.alice}` } };
    expect((await fetch(`${one.url}/my/logout`, logout)).status).toBe(204);
    await ofAlice.over;
    await until(() => pages.alice.error !== undefined);
    expect(pages.alice.error).toMatchObject({ _tag: 'UnauthorizedError' });
    expect(await statusWith(one, tokens.alice)).toBe(401);
    // another login of the user is another token
    expect(await statusWith(one, await login.token('alice'))).toBe(200);
    pages.bob.subscription.unsubscribe();
    for (const token of Object.values(tokens)) expect(one.logs()).not.toContain(token);
  });

  it('are sent for a valid token only, as long as it is valid, once the identity provider is there', async () => {
    const port = await freePort();
    const { one } = await example.given(() => ({ LOGIN_ISSUER: `http://127.0.0.1:${port}` }), 0);
    expect(await statusWith(one, 'e30.e30.e30')).toBe(503);
    const login = await givenLogin(5, port);
    const token = await login.token('alice');
    const stream = await open(one, token);
    expect(stream.status).toBe(200);
    for (const forged of [undefined, 'nonsense', 'e30.e30.e30', ...forgeries(token)])
      expect(await statusWith(one, forged)).toBe(401);
    expect(await statusWith(one, await login.token('alice', 'https://another.example'))).toBe(401);
    await stream.over;
    expect(await statusWith(one, token)).toBe(401);
    expect(await statusWith(one, await login.token('alice'))).toBe(200);
  });
});

/** Tokens that say what a valid one says, and are not signed by the identity provider. */
function forgeries(token: string): readonly string[] {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const encode = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');
  const decode = (part: string): object => JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const signed = sign('sha256', Buffer.from(`${header}.${claims}`), privateKey).toString('base64url');
  return [
    `${header}.${claims}.${signed}`,
    `${header}.${encode({ ...decode(claims), sub: 'bob' })}.${signature}`,
    `${encode({ alg: 'none', typ: 'at+jwt' })}.${claims}.`,
    `${header}.${claims}.`,
  ];
}
