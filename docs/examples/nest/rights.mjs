// node rights.mjs add alice PARTY, or remove: what an administration of users does
import process from 'node:process';
import { Client } from 'pg';

const [action, subject, party] = process.argv.slice(2);
const statements = {
  add: 'INSERT INTO users.rights VALUES ($1, $2) ON CONFLICT DO NOTHING',
  remove: 'DELETE FROM users.rights WHERE subject = $1 AND party = $2',
};
const sql = statements[action];
if (sql === undefined || party === undefined) throw new Error('node rights.mjs add USER PARTY, or remove USER PARTY');
const connectionString = process.env.DATABASE_URL ?? 'postgres://postgres:password@127.0.0.1:5432/postgres';
const client = new Client({ connectionString });
await client.connect();
await client.query(sql, [subject, party]);
await client.end();
