import { connectionOptions, nameOptions, type Options, selectionOptions, startOptions } from './options.js';

/** A command: its options are parsed, documented by `--help` and completed by shells as declared here. */
export interface Command {
  /** For the list of commands. */
  readonly summary: string;
  /** What follows the name, one text for each use. An action comes first: `list [OPTIONS]`. */
  readonly usage: readonly string[];
  readonly options: Options;
  /** The help below the options. */
  readonly text: string;
}

/** The commands that connect to a ledger. */
export const ledgerCommands = {
  check: {
    summary: 'Check that a ledger can be reached and read, and show what to fix',
    usage: ['--ledger URL [OPTIONS]'],
    options: {
      ...connectionOptions,
      '--party PARTY...': 'Read as this party; repeatable. Default: any party',
      '--conformance': 'Print what the participant serves of the API and how, row by row, as a table in Markdown',
      '--write':
        'With --conformance: also commit a contract, twice with one command id, and archive it; as --party, or as a new party',
      '--user-id ID': 'With --write: the user of the submissions. Default: that of the token',
      '--json': 'Print one JSON object, for programs',
    },
    text: `Sends about thirty small requests, changes nothing, and takes less than 15 seconds. Prints a
line for each check: ✓ ok; ✗ failed, followed by the next step; ! works but is not safe;
– unknown, or missing and optional.
The output contains neither the host nor the token: you can paste it into a bug report.

Exit codes: 0 no problems; 1 a check failed; 2 bad arguments; 3 the ledger does not answer;
4 the server is not a ledger; 5 the token is missing or refused, or the user lacks rights.

Examples:
  canton-rx check --ledger http://127.0.0.1:7575
  canton-rx check --ledger https://ledger.example.com --token-file token.txt
  canton-rx check --json | jq '.findings[] | select(.state == "failed")'`,
  },
  contracts: {
    summary: 'Print the active contracts, and optionally their changes',
    usage: ['--ledger URL [OPTIONS]'],
    options: {
      ...connectionOptions,
      '--at OFFSET': 'The contracts right after this offset. Default: the ledger end',
      '-f, --follow': 'Then print each change as it happens, until you stop it',
      ...nameOptions,
      '--pretty': 'Print a row for each contract. Default on a terminal',
      '--json': 'Print one JSON object in a line for each contract. Default in a pipe',
      '--output FORM': 'table or json, as --pretty and --json; or csv, with a column for each field of the payloads',
      '--websocket': 'Read over a WebSocket if there is no other way: Canton 3.3 and 3.4 with more than 200 contracts',
    },
    text: `A row has the start of the contract id, the package and entity, the synchronizer, and the
payload; a terminal of fewer than 80 columns gets neither id nor synchronizer. With --follow,
+ marks an added contract, - an archived one, → a moved one.
Prints nothing until all contracts are received, then each of them once. The last line, on
stderr, has their number and the offset.

Exit codes: 0 all contracts are printed, Ctrl-C with --follow, or the reader closed the pipe;
1 a failure; 2 bad arguments; 3, 4 and 5 as for check; 130 interrupted before the end.

Examples:
  canton-rx contracts --template '#my-package:Main:Asset'
  canton-rx contracts --template '#my-package:Main:Asset' --output csv > assets.csv
  canton-rx contracts --follow --party 'alice::1220…'
  canton-rx contracts --at 1471 | jq -c '{type, contractId, payload}'`,
  },
  tail: {
    summary: 'Print updates as they arrive',
    usage: ['--ledger URL [OPTIONS]'],
    options: {
      ...connectionOptions,
      '--from OFFSET|end': 'Start after this offset, or with new updates only. Default: 0',
      ...startOptions,
      '--to OFFSET': 'Stop at this offset. Default: never',
      ...selectionOptions,
      '--pretty': 'Print a row for each update. Default on a terminal',
      '--json': 'Print one JSON object in a line for each update. Default in a pipe',
      '--websocket': 'Receive new updates over a WebSocket; polls if the ledger has none',
    },
    text: `A row has the offset, the time, the synchronizer, the variant, the events and the parties.
+Asset was created, -Asset archived, -Asset.Split archived by this choice, *Asset.Touch
exercised. A terminal of fewer than 80 columns gets no time, one of fewer than 50 no
synchronizer.
Ctrl-C stops it. Then, and after a failure, stderr has the offset to resume from: --from with
that offset neither skips nor repeats an update.
Retries when the ledger fails, but not if the first request cannot connect.

Exit codes: 0 reached --to, Ctrl-C, or the reader closed the pipe; 1 a failure;
2 bad arguments; 3, 4 and 5 as for check.

Examples:
  canton-rx tail --from end
  canton-rx tail --effects --party 'alice::1220…' --template '#my-package:Main:Asset'
  canton-rx tail -n 20 --variant Transaction
  canton-rx tail --to 1000 | jq -c '[.offset, ._tag]'`,
  },
  replay: {
    summary: 'Write a range of updates to a file; resumable',
    usage: ['--ledger URL --out FILE [OPTIONS]'],
    options: {
      ...connectionOptions,
      '--from OFFSET': 'Start after this offset. Default: 0',
      ...startOptions,
      '--to OFFSET|end': 'Stop at this offset. Default: end, the ledger end at the first start',
      '-o, --out FILE': 'The file. FILE.replay.json next to it describes it',
      ...selectionOptions,
    },
    text: `After any interruption, run the same command again: it resumes at the end of the file and
neither skips nor repeats an update. It refuses other filters and another participant.
When the file is complete, FILE.replay.json has its SHA-256, and the same command verifies
the file. Checkpoints are left out.

Exit codes: 0 the file is complete; 1 the ledger or the disk failed, or the file has changed;
2 bad arguments, or not those that the file was started with; 3, 4 and 5 as for check;
130 interrupted.

Examples:
  canton-rx replay --out all.ndjson
  canton-rx replay --from 1000 --to 2000 --variant Transaction --out range.ndjson`,
  },
  submit: {
    summary: 'Submit a command of a party that the participant hosts',
    usage: ['--ledger URL --act-as PARTY --template ID [OPTIONS]', '--ledger URL --file FILE [OPTIONS]'],
    options: {
      ...connectionOptions,
      '--act-as PARTY...': 'The party that authorizes the command; repeatable',
      '--template ID': "Create a contract of '#package-name:Module:Entity'",
      '--choice NAME': 'Exercise this choice of the template instead',
      '--contract ID': 'The contract to exercise it on',
      '--argument JSON': 'The arguments of the contract or of the choice. Default: {}',
      '--file FILE': 'A whole request as JSON, as for submitAndWaitForTransaction; - for stdin',
      '--command-id ID': 'Identifies the change. Default: a random one',
      '--user-id ID': 'The user. A ledger without authentication requires it. Default: that of the token',
      '--since OFFSET':
        'Commit the command id only if it was not committed after this offset, and print the transaction. Without it, each call commits the command',
      '--dry-run': 'Only let the ledger interpret each command, and print the traffic it needs',
      '--json': 'Print the transaction as a JSON object. Default in a pipe',
    },
    text: `Waits for the outcome, also if a response is lost, and prints the transaction. If the outcome
cannot be determined within four minutes, or after Ctrl-C, stderr has the options to
determine it later.

Exit codes: 0 committed; 1 rejected: nothing is committed; 2 bad arguments; 3, 4 and 5 as for
check; 6 the outcome is unknown, or stdout cannot be written to: stderr says which;
130 interrupted, and the outcome is unknown.

Examples:
  canton-rx submit --act-as 'alice::1220…' --template '#my-package:Main:Asset' \\
    --argument '{"owner": "alice::1220…", "amount": "10.0"}'
  canton-rx submit --file request.json --dry-run
  canton-rx submit --file request.json --command-id order-4711 --json`,
  },
  project: {
    summary: 'Keep the active contracts and their history in PostgreSQL',
    usage: ['--ledger URL --database URL [OPTIONS]', 'verify --ledger URL --database URL [OPTIONS]'],
    options: {
      ...connectionOptions,
      '--database URL':
        'postgres://user@host:5432/database. Default: $CANTON_RX_DATABASE_URL. The password may also be in $PGPASSWORD or in ~/.pgpass',
      '--schema NAME': 'The schema of the tables and functions. Default: contracts',
      ...nameOptions,
      '--exercises': 'Keep exercises, too, for exercises(choice) and lookup_exercises(id)',
      '--keep-archived DAYS': 'How long to keep archived contracts. Default: forever',
      '--on-replaced ACTION':
        'If the ledger was restored or replaced: reload removes what the schema has and loads all contracts again, fail stops. Default: reload',
      '--on-selection-change ACTION':
        'If --party or --template are not those of the schema: fail stops; end and keep read what was added, and end the rows that are no longer selected, or leave them active. Default: fail',
      '--log-every SECONDS':
        'The time between two lines of metrics if stderr is not a terminal; 0 for none. Default: 30',
    },
    text: `Creates the schema, or upgrades that of an earlier version, loads all contracts, and follows
the ledger until you stop it. Readers never see a partial update or a partial load. The
offset is saved with the contracts: after any interruption the same command resumes there.
If several processes write the same schema, one works and the others wait until it ends.
Ctrl-C and SIGTERM stop it after the current commit. Requires the package pg.

With project verify, and the same options, it compares the contract ids of the schema with
those of the ledger at the same offset, and ends.

Exit codes: 0 stopped by a signal, or verified; 1 a failure or a difference; 2 bad arguments;
3, 4 and 5 as for check; 6 the database cannot be used.

Examples:
  canton-rx project verify --database postgres://app@127.0.0.1/app
  canton-rx project --database postgres://app@127.0.0.1/app
  canton-rx project --schema assets --template '#my-package:Main:Asset' --exercises
  psql -c "SELECT contract_id, payload FROM contracts.active('my-package:Main:Asset')"`,
  },
} as const satisfies Readonly<Record<string, Command>>;
