const main = `canton-rx: a Canton participant's ledger on the command line

  canton-rx check     find out whether a ledger can be reached and read, and what to do if not
  canton-rx tail      print a ledger's updates as they come: rows for people, or JSON
  canton-rx replay    write a range of a ledger to a file, whole or to be gone on with
  canton-rx sandbox   run a ledger service on this machine, to try things on
  canton-rx demo      see the library at work on such a ledger

  -h, --help          this; also of each command: canton-rx tail --help
  -v, --version       the version

Colours are for terminals; NO_COLOR=1 turns them off, FORCE_COLOR=1 on.`;

const connection = `  --ledger URL          the JSON Ledger API; default: the environment's CANTON_RX_LEDGER_URL
  --token-file FILE     the bearer token, read anew for every request; or put it into the
                        environment's CANTON_RX_LEDGER_TOKEN. There is no option for the
                        token itself: the arguments of a process are no secret.`;

const check = `canton-rx check: find out whether a ledger can be reached and read, and what to do if not

${connection}
  --party PARTY         as whom updates are to be read; repeatable; default: any party
  --json                one JSON object, for programs
  -h, --help            this

Asks little and changes nothing, in less than 15 seconds. A line for each finding: ✓ well,
✗ not well, and below it what to do next, ! works and is not safe, – not found out, or not
there and not needed.
Neither the token nor the host is shown: what it prints can go into a bug report.
Exit code: 0 all well; 1 something is not well; 2 bad arguments; 3 nobody answers; 4 what
answers is no ledger; 5 the token is missing, refused, or has not the rights.`;

const selection = `  --party PARTY         updates that this party sees; repeatable; default: any party
  --template ID         events of '#package-name:Module:Entity'; repeatable; default: all
  --effects             exercises too, not only what changes active contracts
  --variant NAME        only these: Transaction, Reassignment, TopologyTransaction,
                        OffsetCheckpoint, UnknownUpdate; repeatable
  --synchronizer ID     only updates of this synchronizer; repeatable`;

const tail = `canton-rx tail: print a ledger's updates as they come

${connection}
  --from OFFSET|end     updates after this offset alone, or only what is new; default 0
  --to OFFSET           updates up to this offset, and then end; default: go on for ever
${selection}
  --pretty              a row an update, for people: offset, time, synchronizer, variant, what
                        happened, to whom. +Asset created, -Asset archived, -Asset.Split
                        archived by this choice, *Asset.Touch exercised. Default on a terminal
  --json                one JSON object a line, for programs. Default elsewhere
  --websocket           have the ledger push what is new; polls where no socket is to be had
  -h, --help            this

Ctrl-C ends it. Then, and after a failure, stderr says where to resume: --from with that
offset goes on without a gap and without a repetition.
A ledger that fails for a while is waited for; one that cannot be reached at the start is not.
Exit code: 0 at the end, on Ctrl-C and when the reader of stdout is gone; 1 when the ledger
fails; 2 for bad arguments.`;

const replay = `canton-rx replay: write a range of a ledger to a file, one JSON object a line

${connection}
  --from OFFSET         updates after this offset alone; default 0
  --to OFFSET|end       updates up to this offset; default end: where the ledger ends now
  -o, --out FILE        the file; FILE.replay.json beside it says what it is
${selection}
  -h, --help            this

Whatever ends it, the same command goes on where the file ends, without a gap and without a
repetition; it refuses to go on with other filters or another participant. When the file is
complete, FILE.replay.json says so, with its SHA-256; the same command then checks the file.
Checkpoints are left out.
Exit code: 0 the file is complete; 1 the ledger fails, or the file is not as replay left it;
2 bad arguments, or others than the file was begun with; 130 interrupted.`;

const sandbox = `canton-rx sandbox: run a ledger service on this machine, to try things on

  --port PORT           where on 127.0.0.1; 0 lets the system choose; default 7575
  --profile LINE        behave as Canton 3.4, 3.5 or 3.6; default 3.5
  --updates N           begin with N updates of generated traffic; default 0
  --rate N              generate N updates per second from then on; default 0
  --seed N              the seed of what is generated; default 1
  --cors                let pages of any origin call
  -h, --help            this

Ctrl-C ends it. Nothing is kept.
Exit code: 0 on Ctrl-C; 1 when it cannot run; 2 for bad arguments.`;

const demo = `canton-rx demo: see the library at work on a ledger of its own

  -h, --help            this

Shows a feed, and two submissions of a party with a key of its own, which are found in the feed.
Takes a few seconds. It needs @canton-network/core-ledger-proto and core-tx-visualizer.
Exit code: 0 when all was found; 1 when not.`;

/** What `--help` prints: of the program, and of each command. */
export const help = { main, check, tail, replay, sandbox, demo };
