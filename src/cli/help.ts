import { readFileSync } from 'node:fs';
import { toolHelp } from './toolHelp.js';

const main = `canton-rx: read the ledger of a Canton participant from the command line, and submit to it

Usage: canton-rx COMMAND [OPTIONS]

  check       Check that a ledger can be reached and read, and show what to fix
  contracts   Print the active contracts, and optionally their changes
  tail        Print updates as they arrive
  replay      Write a range of updates to a file; resumable
  submit      Submit a command of a party that the participant hosts
  project     Keep the active contracts and their history in PostgreSQL
  processors  List the processors of a service, start one over, or skip an update
  parked      List or drop the updates that a service has parked
  outbox      List the commands of an outbox, send one again, or drop one
  sandbox     Run a ledger on this machine, for development and tests
  completion  Print a script that completes commands and options in bash, zsh or fish
  demo        Watch a feed and two signed submissions on such a ledger

  -h, --help      Print this help, or that of a command: canton-rx tail --help
  -v, --version   Print the version

Examples:
  canton-rx sandbox --updates 300 --rate 5
  canton-rx check --ledger http://127.0.0.1:7575
  canton-rx tail --ledger http://127.0.0.1:7575 --from end

Terminals get colours: NO_COLOR=1 turns them off, FORCE_COLOR=1 turns them on in a pipe, too.
`;

const connection = `  --ledger URL          The JSON Ledger API. Default: $CANTON_RX_LEDGER_URL
  --token-file FILE     A file with the bearer token, read for every request. Default: the
                        token in $CANTON_RX_LEDGER_TOKEN. There is no option for the token
                        itself, because other users can see the arguments of a process
  --context NAME        The ledger, token file and parties of this name in the file of
                        $CANTON_RX_CONFIG. Default: $CANTON_RX_CONTEXT
  --verbose             Print each request to stderr, without the token and the content`;

const check = `canton-rx check: check that a ledger can be reached and read, and show what to fix

Usage: canton-rx check --ledger URL [OPTIONS]

${connection}
  --party PARTY         Read as this party; repeatable. Default: any party
  --json                Print one JSON object, for programs
  -h, --help            Print this help

Sends about thirty small requests, changes nothing, and takes less than 15 seconds. Prints a
line for each check: ✓ ok; ✗ failed, followed by the next step; ! works but is not safe;
– unknown, or missing and optional.
The output contains neither the host nor the token: you can paste it into a bug report.

Exit codes: 0 no problems; 1 a check failed; 2 bad arguments; 3 the ledger does not answer;
4 the server is not a ledger; 5 the token is missing or refused, or the user lacks rights.

Examples:
  canton-rx check --ledger http://127.0.0.1:7575
  canton-rx check --ledger https://ledger.example.com --token-file token.txt
  canton-rx check --json | jq '.findings[] | select(.state == "failed")'
`;

const query = `  --party PARTY         Contracts of which this party is a stakeholder; repeatable.
                        Default: any party
  --template ID         Contracts of '#package-name:Module:Entity'; repeatable. Default: all`;

const contracts = `canton-rx contracts: print the active contracts of a ledger, and optionally their changes

Usage: canton-rx contracts --ledger URL [OPTIONS]

${connection}
  --at OFFSET           The contracts right after this offset. Default: the ledger end
  -f, --follow          Then print each change as it happens, until you stop it
${query}
  --pretty              Print a row for each contract. Default on a terminal
  --json                Print one JSON object in a line for each contract. Default in a pipe
  --output FORM         table or json, as --pretty and --json; or csv, with a column for each
                        field of the payloads
  --websocket           Read over a WebSocket if there is no other way: Canton 3.3 and 3.4 with
                        more than 200 contracts
  -h, --help            Print this help

A row has the start of the contract id, the package and entity, the synchronizer, and the
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
  canton-rx contracts --at 1471 | jq -c '{type, contractId, payload}'
`;

const selection = `  --party PARTY         Updates visible to this party; repeatable. Default: any party
  --template ID         Events of '#package-name:Module:Entity'; repeatable. Default: all
  --effects             Include exercises, not only changes of active contracts
  --variant NAME        Only this variant: Transaction, Reassignment, TopologyTransaction,
                        OffsetCheckpoint or UnknownUpdate; repeatable
  --synchronizer ID     Only updates of this synchronizer; repeatable`;

const tail = `canton-rx tail: print the updates of a ledger as they arrive

Usage: canton-rx tail --ledger URL [OPTIONS]

${connection}
  --from OFFSET|end     Start after this offset, or with new updates only. Default: 0
  --since TIME          Start at this record time, with its zone: 2026-11-23T10:00+01:00,
                        2026-11-23T10:00:00Z; or 90s, 10m, 2h, 7d ago
  -n, --count COUNT     Start with the last COUNT updates; with --since, of those since then
  --to OFFSET           Stop at this offset. Default: never
${selection}
  --pretty              Print a row for each update. Default on a terminal
  --json                Print one JSON object in a line for each update. Default in a pipe
  --websocket           Receive new updates over a WebSocket; polls if the ledger has none
  -h, --help            Print this help

A row has the offset, the time, the synchronizer, the variant, the events and the parties.
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
  canton-rx tail --to 1000 | jq -c '[.offset, ._tag]'
`;

const replay = `canton-rx replay: write a range of updates to a file, one JSON object in a line

Usage: canton-rx replay --ledger URL --out FILE [OPTIONS]

${connection}
  --from OFFSET         Start after this offset. Default: 0
  --since TIME          Start at this record time, with its zone: 2026-11-23T10:00+01:00,
                        2026-11-23T10:00:00Z; or 90s, 10m, 2h, 7d ago
  -n, --count COUNT     Start with the last COUNT updates; with --since, of those since then
  --to OFFSET|end       Stop at this offset. Default: end, the ledger end at the first start
  -o, --out FILE        The file. FILE.replay.json next to it describes it
${selection}
  -h, --help            Print this help

After any interruption, run the same command again: it resumes at the end of the file and
neither skips nor repeats an update. It refuses other filters and another participant.
When the file is complete, FILE.replay.json has its SHA-256, and the same command verifies
the file. Checkpoints are left out.

Exit codes: 0 the file is complete; 1 the ledger or the disk failed, or the file has changed;
2 bad arguments, or not those that the file was started with; 3, 4 and 5 as for check;
130 interrupted.

Examples:
  canton-rx replay --out all.ndjson
  canton-rx replay --from 1000 --to 2000 --variant Transaction --out range.ndjson
`;

const submit = `canton-rx submit: submit a command of a party that the participant hosts

Usage: canton-rx submit --ledger URL --act-as PARTY --template ID [OPTIONS]
       canton-rx submit --ledger URL --file FILE [OPTIONS]

${connection}
  --act-as PARTY        The party that authorizes the command; repeatable
  --template ID         Create a contract of '#package-name:Module:Entity'
  --choice NAME         Exercise this choice of the template instead
  --contract ID         The contract to exercise it on
  --argument JSON       The arguments of the contract or of the choice. Default: {}
  --file FILE           A whole request as JSON, as for submitAndWaitForTransaction; - for stdin
  --command-id ID       Identifies the change. Default: a random one
  --user-id ID          The user. A ledger without authentication requires it. Default: that of
                        the token
  --since OFFSET        Commit the command id only if it was not committed after this offset, and
                        print the transaction. Without it, each call commits the command
  --dry-run             Only let the ledger interpret each command, and print the traffic it needs
  --json                Print the transaction as a JSON object. Default in a pipe
  -h, --help            Print this help

Waits for the outcome, also if a response is lost, and prints the transaction. If the outcome
cannot be determined within four minutes, or after Ctrl-C, stderr has the options to
determine it later.

Exit codes: 0 committed; 1 rejected: nothing is committed; 2 bad arguments; 3, 4 and 5 as for
check; 6 the outcome is unknown, or stdout cannot be written to: stderr says which;
130 interrupted, and the outcome is unknown.

Examples:
  canton-rx submit --act-as 'alice::1220…' --template '#my-package:Main:Asset' \\
    --argument '{"owner": "alice::1220…", "amount": "10.0"}'
  canton-rx submit --file request.json --dry-run
  canton-rx submit --file request.json --command-id order-4711 --json
`;

const project = `canton-rx project: keep the contracts of a ledger in a PostgreSQL database

Usage: canton-rx project --ledger URL --database URL [OPTIONS]
       canton-rx project verify --ledger URL --database URL [OPTIONS]

${connection}
  --database URL        postgres://user@host:5432/database. Default: $CANTON_RX_DATABASE_URL.
                        The password may also be in $PGPASSWORD or in ~/.pgpass
  --schema NAME         The schema of the tables and functions. Default: contracts
${query}
  --exercises           Keep exercises, too, for exercises(choice) and lookup_exercises(id)
  --keep-archived DAYS  How long to keep archived contracts. Default: forever
  --on-replaced ACTION  If the ledger was restored or replaced: reload removes what the schema
                        has and loads all contracts again, fail stops. Default: reload
  --log-every SECONDS   The time between two lines of metrics if stderr is not a terminal;
                        0 for none. Default: 30
  -h, --help            Print this help

Creates the schema, or upgrades that of an earlier version, loads all contracts, and follows
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
  psql -c "SELECT contract_id, payload FROM contracts.active('my-package:Main:Asset')"
`;

/** The texts of `--help`: of the program, and of each command. */
export const help = { main, check, contracts, tail, replay, submit, project, ...toolHelp };

/**
 * The text for arguments that only need a text: the help of the program or of a command, or the version. `undefined` for any
 * other arguments. Loads nothing of the library, so that such a text appears at once.
 */
export function infoFor([first, ...args]: readonly string[]): string | undefined {
  if (first === '--version' || first === '-v' || first === '-V') return `${version()}\n`;
  if (first === 'help' || first === '--help' || first === '-h') return helpOf(args[0]) ?? help.main;
  return args.includes('--help') || args.includes('-h') ? helpOf(first) : undefined;
}

const helpOf = (command: string | undefined): string | undefined =>
  Object.entries(help).find(([name]) => name === command && name !== 'main')?.[1];

/** The version in the package.json of this package, two folders above both `src/cli` and `dist/cli`. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
