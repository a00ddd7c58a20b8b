const sandbox = `canton-rx sandbox: run a ledger on this machine, for development and tests

Usage: canton-rx sandbox [OPTIONS]

  --port PORT           The port on 127.0.0.1; 0 lets the system choose. Default: 7575
  --profile LINE        Behave like Canton 3.3, 3.4, 3.5, 3.6 or 3.7. Default: 3.5
  --updates N           Start with N updates of generated traffic. Default: 0
  --rate N              Then generate N updates per second. Default: 0
  --seed N              The seed of the generated traffic. Default: 1
  --contend             Other transactions win some races for the contracts of commands
  --token TOKEN         Answer 401 to requests without this bearer token. Other users of this
                        machine can see it: do not use a token of a real ledger
  --token-file FILE     The same, with the token in a file, read at the start
  --cors                Allow requests from web pages of any origin
  -h, --help            Print this help

Ctrl-C stops it. Nothing is saved.

Exit codes: 0 stopped by a signal; 1 cannot run, for example if the port is in use;
2 bad arguments.

Examples:
  canton-rx sandbox --updates 300 --rate 5
  canton-rx sandbox --port 0 --profile 3.4
  canton-rx sandbox --token letmein
`;

const completion = `canton-rx completion: complete commands and options in a shell

Usage: canton-rx completion bash|zsh|fish

  -h, --help            Print this help

Prints a script for the shell. Its first lines have the place for it.

Exit codes: 0 printed; 2 bad arguments.

Example:
  source <(canton-rx completion bash)
`;

const demo = `canton-rx demo: watch a feed and two signed submissions on a local ledger

Usage: canton-rx demo

  -h, --help            Print this help

Starts a sandbox, reads its feed, submits two commands of a party that holds its own key, and
finds both in the feed. Takes a few seconds. Requires two optional packages:
npm install @canton-network/core-ledger-proto @canton-network/core-tx-visualizer

Exit codes: 0 the feed has both submissions; 1 a failure; 2 bad arguments.

Example:
  canton-rx demo
`;

/** The texts of the commands that need no ledger. */
export const toolHelp = { sandbox, completion, demo };
