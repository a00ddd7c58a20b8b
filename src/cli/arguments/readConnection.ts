import type { World } from '../World.js';
import type { Connection } from './Connection.js';
import type { connectionOptions } from './connectionOptions.js';
import type { Values } from './parsed.js';
import { readUrl } from './readUrl.js';
import { tokenFrom } from './tokenFrom.js';

/** The ledger that the arguments or the environment name. Throws a `UsageError`. */
export const readConnection = (values: Values<typeof connectionOptions>, env: World['env']): Connection => ({
  ledger: readUrl(values.ledger ?? env['CANTON_RX_LEDGER_URL']),
  token: tokenFrom(values['token-file'], env['CANTON_RX_LEDGER_TOKEN']),
});
