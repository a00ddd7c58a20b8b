import type { Command } from './ledgerCommands.js';
import { connectionOptions, databaseOptions } from './options.js';

/** The commands that connect to no ledger. */
export const toolCommands = {
  processors: {
    summary: 'List the processors of a service, pause, rewind or start over one, or skip an update',
    usage: [
      'list [OPTIONS]',
      'pause --name NAME [OPTIONS]',
      'resume --name NAME [OPTIONS]',
      'rewind --name NAME --to OFFSET|TIME [OPTIONS]',
      'reset --name NAME [OPTIONS]',
      'skip --name NAME --after OFFSET --offset OFFSET [--update ID] [OPTIONS]',
    ],
    options: {
      ...databaseOptions,
      '--name NAME': 'The processor. Only pause and resume change one that runs',
      '--to OFFSET|TIME':
        'The handler gets the updates after this offset again; or those since this record time, which the ledger looks up: 2026-11-23T10:00Z, or 2h ago as 2h',
      '--after OFFSET': 'The offset that list prints: all updates between it and --offset are left out',
      '--offset OFFSET': 'The offset of the update that is left out, and after which it continues',
      '--update ID':
        'The id of that update, which proves at the next start that the ledger is the same. An error of a handler has both',
      ...connectionOptions,
      '--party PARTY...': 'With a time: updates visible to this party; repeatable. Default: any party',
    },
    text: `For a service with a postgresStore. list prints a line for each processor, with its lag if a
ledger is given. A paused processor commits nothing after its current batch, in all processes,
until resume. rewind moves its cursor back: pause it or stop it first. reset removes a cursor:
the processor handles all updates again, and a projection loads all contracts again.

Exit codes: 0 done; 1 refused, or stdout cannot be written to: stderr says what was done; 2 bad
arguments; 6 the database cannot be used, or did not answer a change: stderr says so; with a
time also 3, 4 and 5 as for check.

Examples:
  canton-rx processors list --database postgres://app@127.0.0.1/app
  canton-rx processors rewind --name balances --to 2026-11-23T10:00Z --ledger http://127.0.0.1:7575
  canton-rx processors skip --name balances --after 4710 --offset 4711 --update 1220ab`,
  },
  parked: {
    summary: 'List or drop the updates that a service has parked',
    usage: ['list [--name NAME] [OPTIONS]', 'drop --name NAME --offset OFFSET [OPTIONS]'],
    options: {
      ...databaseOptions,
      '--name NAME': 'The processor',
      '--offset OFFSET': 'The offset of the update',
    },
    text: `For a service with a postgresStore. To replay parked updates, call handleParked in the
service: only it has the handler.

Exit codes: 0 done; 1 refused, or stdout cannot be written to: stderr says what was done; 2 bad
arguments; 6 the database cannot be used, or did not answer a change: stderr says so.

Example:
  canton-rx parked list --database postgres://app@127.0.0.1/app`,
  },
  outbox: {
    summary: 'List the commands of an outbox, send one again, or drop one',
    usage: [
      'list [--name NAME] [OPTIONS]',
      'retry --id ID [--name NAME] [--forget] [OPTIONS]',
      'drop --id ID [--name NAME] [OPTIONS]',
    ],
    options: {
      ...databaseOptions,
      '--name NAME': 'The outbox. Default: commands; list prints all',
      '--id ID': 'The number of the command, which list prints',
      '--forget':
        'Forget that the command may have been committed, for a ledger that was replaced: if the ledger has committed it, it commits it again',
    },
    text: `For a service with a commandOutbox. list prints a line for each command that is not done:
waiting, due, running or parked. retry sends a parked one again. drop gives one up, so that
the later ones of its key are sent.

Exit codes: 0 done; 1 refused, or stdout cannot be written to: stderr says what was done; 2 bad
arguments; 6 the database cannot be used, or did not answer a change: stderr says so.

Examples:
  canton-rx outbox list --database postgres://app@127.0.0.1/app
  canton-rx outbox drop --id 7 --database postgres://app@127.0.0.1/app`,
  },
  sandbox: {
    summary: 'Run a ledger on this machine, for development and tests',
    usage: ['[OPTIONS]'],
    options: {
      '--port PORT': 'The port on 127.0.0.1; 0 lets the system choose. Default: 7575',
      '--profile LINE': 'Behave like Canton 3.3, 3.4, 3.5, 3.6 or 3.7. Default: 3.5',
      '--updates N': 'Start with N updates of generated traffic. Default: 0',
      '--rate N': 'Then generate N updates per second. Default: 0',
      '--seed N': 'The seed of the generated traffic. Default: 1',
      '--participant-id ID': 'The id of the participant. Default: another one at each start',
      '--templates FILE':
        'Run the contracts of the templates in this module: its default export, or its export templates, is a list of what template() of canton-rx/sandbox returns',
      '--contend': 'Other transactions win some races for the contracts of commands',
      '--token-file FILE':
        'Answer 401 to requests without the bearer token in this file, read at the start. Default: the variable CANTON_RX_SANDBOX_TOKEN, if it is set',
      '--cors': 'Allow requests from web pages of this machine, with any port',
      '--allow-origin ORIGIN...':
        'Allow requests from web pages of this origin only, such as http://localhost:5173; repeat it for more',
    },
    text: `Ctrl-C stops it. Nothing is saved.

Exit codes: 0 stopped by a signal; 1 cannot run, for example if the port is in use;
2 bad arguments.

Examples:
  canton-rx sandbox --updates 300 --rate 5
  canton-rx sandbox --port 0 --profile 3.4
  canton-rx sandbox --templates ./templates.js
  canton-rx sandbox --allow-origin http://localhost:5173`,
  },
  completion: {
    summary: 'Print a script that completes commands and options in bash, zsh or fish',
    usage: ['bash|zsh|fish'],
    options: {},
    text: `Prints a script for the shell. Its first lines have the place for it.

Exit codes: 0 printed; 2 bad arguments.

Example:
  source <(canton-rx completion bash)`,
  },
  demo: {
    summary: 'Watch a feed and two signed submissions on such a ledger',
    usage: [''],
    options: {},
    text: `Starts a sandbox, reads its feed, submits two commands of a party that holds its own key, and
finds both in the feed. Takes a few seconds. Requires two optional packages:
npm install @canton-network/core-ledger-proto @canton-network/core-tx-visualizer

Exit codes: 0 the feed has both submissions; 1 a failure; 2 bad arguments.

Example:
  canton-rx demo`,
  },
} as const satisfies Readonly<Record<string, Command>>;
