const main = `canton-rx: the ledger of a Canton participant on the command line

  canton-rx check     check whether a ledger can be reached and read, and what to do if not
  canton-rx contracts print the active contracts, as rows or as JSON, and then their changes
  canton-rx tail      print the updates of a ledger as they arrive, as rows or as JSON
  canton-rx replay    write a range of a ledger to a file; resumes after an interruption
  canton-rx project   keep the active contracts and their history in a PostgreSQL database
  canton-rx sandbox   run a ledger service for tests on this machine
  canton-rx demo      show the library at work on such a service

  -h, --help          print this help, or that of a command: canton-rx tail --help
  -v, --version       print the version

Terminals get colours; NO_COLOR=1 turns them off, FORCE_COLOR=1 on.`;

const connection = `  --ledger URL          the JSON Ledger API; default: $CANTON_RX_LEDGER_URL
  --token-file FILE     a file with the bearer token, read for every request; default: the
                        token in $CANTON_RX_LEDGER_TOKEN. The token itself is no option:
                        other users can see the arguments of a process.`;

const check = `canton-rx check: check whether a ledger can be reached and read, and what to do if not

${connection}
  --party PARTY         the party to read as; repeatable; default: any party
  --json                print one JSON object, for programs
  -h, --help            print this help

Sends a few small requests, changes nothing, and takes less than 15 seconds. Prints a line
for each check: ✓ ok, ✗ failed, with the next step below it, ! works but is not safe,
– unknown, or missing and optional.
The output contains neither the token nor the host and can go into a bug report.
Exit code: 0 no problems; 1 a check failed; 2 bad arguments; 3 the ledger does not answer;
4 the server is not a ledger; 5 the token is missing, refused or lacks rights.`;

const query = `  --party PARTY         contracts of which this party is a stakeholder; repeatable; default: any
  --template ID         contracts of '#package-name:Module:Entity'; repeatable; default: all`;

const contracts = `canton-rx contracts: print the active contracts of a ledger, and then their changes

${connection}
  --at OFFSET           the contracts right after this offset; default: the ledger end
  -f, --follow          then print each change as it happens, without an end
${query}
  --pretty              print a row for each contract: the start of its id, package and entity,
                        its synchronizer or those it is in flight between, its payload.
                        Default on a terminal. With --follow + added, - archived, → moved
  --json                print one JSON object in a line for each contract. Default elsewhere
  --websocket           read by a WebSocket what the service sends in no other way: from 3.3
                        and 3.4 more than 200 contracts
  -h, --help            print this help

Prints nothing before all contracts are received, each once, where it is last. Until then
they are in a temporary file, so that a million of them needs no more memory than a few.
A line on stderr has their number and the offset.
Exit code: 0 all contracts are printed; on Ctrl-C of --follow; when the reader of stdout closes
the pipe; 1 a failure; 2 bad arguments; 3, 4 and 5 as for check; 130 interrupted before.

Examples:
  canton-rx contracts --template '#my-package:Main:Asset'
  canton-rx contracts --follow --party 'alice::1220…'
  canton-rx contracts --at 1471 | jq -c '{type, contractId, payload}'`;

const selection = `  --party PARTY         updates visible to this party; repeatable; default: any party
  --template ID         events of '#package-name:Module:Entity'; repeatable; default: all
  --effects             include exercises, not only changes of active contracts
  --variant NAME        only this variant: Transaction, Reassignment, TopologyTransaction,
                        OffsetCheckpoint or UnknownUpdate; repeatable
  --synchronizer ID     only updates of this synchronizer; repeatable`;

const tail = `canton-rx tail: print the updates of a ledger as they arrive

${connection}
  --from OFFSET|end     start after this offset, or with new updates only; default: 0
  --to OFFSET           stop at this offset; default: never
${selection}
  --pretty              print a row for each update: offset, time, synchronizer, variant,
                        events, parties. +Asset created, -Asset archived, -Asset.Split
                        archived by this choice, *Asset.Touch exercised. Default on a terminal
  --json                print one JSON object in a line for each update. Default elsewhere
  --websocket           receive new updates over a WebSocket; polls if the service has none
  -h, --help            print this help

Ctrl-C stops it. After that, and after a failure, stderr has the offset to resume from:
--from with that offset neither skips nor repeats an update.
Retries while the ledger fails for some time, but not if the first request cannot connect.
Exit code: 0 at --to, on Ctrl-C and when the reader of stdout closes the pipe; 1 when the
ledger fails; 2 for bad arguments.`;

const replay = `canton-rx replay: write a range of a ledger to a file, one JSON object in a line

${connection}
  --from OFFSET         start after this offset; default: 0
  --to OFFSET|end       stop at this offset; default: end, the ledger end at the first start
  -o, --out FILE        the file; FILE.replay.json next to it describes it
${selection}
  -h, --help            print this help

After any interruption the same command resumes at the end of the file, and neither skips
nor repeats an update; it refuses other filters and another participant. FILE.replay.json
records when the file is complete, and its SHA-256; the same command then verifies the file.
Checkpoints are left out.
Exit code: 0 the file is complete; 1 the ledger failed, or the file is not as replay left it;
2 bad arguments, or others than the file was started with; 130 interrupted.`;

const project = `canton-rx project: keep the contracts of a ledger in a PostgreSQL database, to be read in SQL

${connection}
  --database URL        postgres://user@host:5432/database; default: $CANTON_RX_DATABASE_URL.
                        The password may also be in $PGPASSWORD or in ~/.pgpass
  --schema NAME         the schema of its tables and functions; default: contracts
${query}
  --exercises           keep exercises, too, for exercises(choice) and lookup_exercises(id)
  --keep-archived DAYS  how long archived contracts are kept; default: forever
  --log-every SECONDS   the time between two lines of metrics, where stderr is no terminal;
                        0: none; default: 30
  -h, --help            print this help

Creates the schema, or upgrades that of an earlier version, loads all contracts, and then
follows the ledger without an end. Readers never see half an update, or half a load. The
offset is saved with the contracts: after any interruption the same command continues there.
Of several processes that write one schema one works, and the others wait until it ends.
Ctrl-C and SIGTERM stop it after the current commit. Requires the package pg.
Exit code: 0 stopped by a signal; 1 a failure; 2 bad arguments; 3, 4 and 5 as for check;
6 the database cannot be used.

Examples:
  canton-rx project --database postgres://app@127.0.0.1/app
  canton-rx project --schema assets --template '#my-package:Main:Asset' --exercises
  psql -c "SELECT contract_id, payload FROM contracts.active('my-package:Main:Asset')"`;

const sandbox = `canton-rx sandbox: run a ledger service for tests on this machine

  --port PORT           the port on 127.0.0.1; 0 lets the system choose; default: 7575
  --profile LINE        behave like Canton 3.4, 3.5 or 3.6; default: 3.5
  --updates N           start with N updates of generated traffic; default: 0
  --rate N              then generate N updates per second; default: 0
  --seed N              the seed of the generated traffic; default: 1
  --cors                allow requests from web pages of any origin
  -h, --help            print this help

Ctrl-C stops it. Nothing is saved.
Exit code: 0 on Ctrl-C; 1 when it cannot run; 2 for bad arguments.`;

const demo = `canton-rx demo: show the library at work on a ledger service of its own

  -h, --help            print this help

Shows a feed, and two submissions of a party with its own key that appear in the feed. Takes
a few seconds. Requires @canton-network/core-ledger-proto and core-tx-visualizer.
Exit code: 0 when the feed has both submissions; 1 otherwise.`;

/** The texts of `--help`: of the program, and of each command. */
export const help = { main, check, contracts, tail, replay, project, sandbox, demo };
