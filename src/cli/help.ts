const main = `canton-rx: a Canton participant's ledger on the command line

  canton-rx tail      print a ledger's updates, one JSON object a line
  canton-rx sandbox   run a ledger service on this machine, to try things on

  -h, --help          this; also of each command: canton-rx tail --help
  -v, --version       the version`;

const tail = `canton-rx tail: print a ledger's updates, one JSON object a line, as they come

  --ledger URL          the JSON Ledger API; default: the environment's CANTON_RX_LEDGER_URL
  --from OFFSET|end     updates after this offset alone, or only what is new; default 0
  --to OFFSET           updates up to this offset, and then end; default: go on for ever
  --party PARTY         updates that this party sees; repeatable; default: any party
  --template ID         events of '#package-name:Module:Entity'; repeatable; default: all
  --effects             exercises too, not only what changes active contracts
  --variant NAME        print only these: Transaction, Reassignment, TopologyTransaction,
                        OffsetCheckpoint, UnknownUpdate; repeatable
  --synchronizer ID     print only updates of this synchronizer; repeatable
  --token-file FILE     the bearer token, read anew for every request; or put it into the
                        environment's CANTON_RX_LEDGER_TOKEN. There is no option for the
                        token itself: the arguments of a process are no secret.
  -h, --help            this

Ctrl-C ends it. Then, and after a failure, stderr says where to resume: --from with that
offset goes on without a gap and without a repetition.
A ledger that fails for a while is waited for; one that cannot be reached at the start is not.
Exit code: 0 at the end, on Ctrl-C and when the reader of stdout is gone; 1 when the ledger
fails; 2 for bad arguments.`;

const sandbox = `canton-rx sandbox: run a ledger service on this machine, to try things on

  --port PORT           where on 127.0.0.1; 0 lets the system choose; default 7575
  --profile LINE        behave as Canton 3.4, 3.5 or 3.6; default 3.5
  --updates N           begin with N updates of generated traffic; default 0
  --rate N              generate N updates per second from then on; default 0
  --seed N              the seed of what is generated; default 1
  --cors                let pages of any origin call
  -h, --help            this

Ctrl-C ends it. Nothing is kept. Exit code: 0 on Ctrl-C; 1 when it cannot run; 2 for bad arguments.`;

/** What `--help` prints: of the program, and of each command. */
export const help = { main, tail, sandbox };
