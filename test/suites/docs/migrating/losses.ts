import type { FormerApi } from './formerApi.js';

/** What the guide says of the libraries before, as a program with what it prints. */
export interface Loss {
  readonly name: string;
  readonly program: string;
  /** What the service is to do before the program starts. */
  readonly prepare?: (api: FormerApi) => void;
  /** Whether the program has JSX. */
  readonly react?: true;
  readonly expected: readonly string[];
}

const head = `
  import { Tasks } from '@daml.js/tasks-1.0.0';
  import { Ledger } from '@daml/ledger';
  const alice = 'alice::1220ab';
  const connect = (options = {}) => new Ledger({ token: 't', httpBaseUrl: 'http://127.0.0.1:7575/', ...options });
  const print = (...what: unknown[]) => console.log(what.join(' '));
`;

export const losses: readonly Loss[] = [
  {
    name: 'parts of the first contracts were emitted before all of them were there',
    program: `${head}
      const stream = connect().streamQueries(Tasks.Task, []);
      stream.on('change', (tasks) => print('change', tasks.length));
      stream.on('live', (tasks) => { print('live', tasks.length); stream.close(); });`,
    expected: ['change 1', 'change 2', 'live 2'],
  },
  {
    name: 'a stream ended when the connection broke soon after it was live',
    program: `${head}
      const stream = connect().streamQueries(Tasks.Task, []);
      stream.on('live', () => print('cut now'));
      stream.on('close', ({ code }) => print('close', code));`,
    expected: ['cut now', 'close 4001'],
  },
  {
    name: 'a stream ended when the first attempt to reconnect failed',
    program: `${head}
      const stream = connect({ reconnectThreshold: 0 }).streamQueries(Tasks.Task, []);
      stream.on('live', () => print('cut twice'));
      stream.on('close', ({ code }) => print('close', code));`,
    expected: ['cut twice', 'close 4001'],
  },
  {
    name: 'a connection that was refused ended the program in Node.js',
    program: `${head}
      process.on('uncaughtException', ({ code }: Error & { code?: string }) => {
        print('crash', code);
        process.exit(0);
      });
      const stream = connect({ reconnectThreshold: 0 }).streamQueries(Tasks.Task, []);
      stream.on('live', () => print('stop now'));
      stream.on('close', ({ code }) => print('close', code));`,
    expected: ['stop now', 'crash ECONNREFUSED'],
  },
  {
    name: 'an error of the service was written to the console alone',
    prepare: (api) => {
      api.answerStreams({ errors: ['the offset was pruned'], status: 400 });
    },
    program: `${head}
      const stream = connect().streamQueries(Tasks.Task, []);
      for (const event of ['live', 'change'] as const) stream.on(event as 'live', () => print(event));
      stream.on('close', ({ code }) => print('close', code));
      console.error = (text) => { print(text); setImmediate(() => stream.close()); };`,
    expected: ['Ledger.streamQueries errors', 'close 4000'],
  },
  {
    name: 'the archival of another contract was an event, too',
    program: `${head}
      const stream = connect().streamQueries(Tasks.Task, [{ title: 'Read' }]);
      stream.on('live', (tasks) => { print('live', tasks.length); print('archive 0001'); });
      stream.on('change', (tasks, events) => {
        if (!('archived' in (events[0] ?? {}))) return;
        print('archived', events.length, tasks.length);
        stream.close();
      });`,
    expected: ['live 1', 'archive 0001', 'archived 1 1'],
  },
  {
    name: 'a hook went on loading when the connection had broken, and kept the contracts',
    react: true,
    program: `
      import { Tasks } from '@daml.js/tasks-1.0.0';
      import DamlLedger, { useStreamQueries } from '@daml/react';
      import { useEffect } from 'react';
      import { create } from 'react-test-renderer';

      console.error = () => undefined;
      const View = () => {
        const { contracts, loading } = useStreamQueries(Tasks.Task);
        useEffect(() => {
          console.log(loading, contracts.length);
          if (!loading) console.log('cut now');
        }, [loading]);
        return null;
      };
      create(<DamlLedger token="t" party="p" httpBaseUrl="http://127.0.0.1:7575/"><View /></DamlLedger>);`,
    expected: ['true 0', 'false 2', 'cut now', 'true 2'],
  },
  {
    name: 'hooks went on loading when a stream had failed, or a query',
    react: true,
    prepare: (api) => {
      api.answerStreams({ errors: ['the offset was pruned'], status: 400 });
    },
    program: `
      import { Tasks } from '@daml.js/tasks-1.0.0';
      import DamlLedger, { useQuery, useStreamQueries } from '@daml/react';
      import { create } from 'react-test-renderer';

      const failures: string[] = [];
      const fail = (what: string) => {
        failures.push(what);
        if (failures.length < 2) return;
        setTimeout(() => {
          console.log(failures.sort().join(', '));
          console.log(JSON.stringify(tree.toJSON()));
          tree.unmount();
          process.exit(0);
        });
      };
      console.error = (text) => { if (String(text).includes('errors')) fail('an error on the console'); };
      process.on('unhandledRejection', () => fail('an unhandled rejection'));

      const View = () => {
        const query = useQuery(Tasks.Task, () => ({ title: 'fail' }), []);
        const stream = useStreamQueries(Tasks.Task);
        return <p>{[query.loading, stream.loading].join()}</p>;
      };
      const tree = create(
        <DamlLedger token="t" party="p" httpBaseUrl="http://127.0.0.1:1/" wsBaseUrl={'http://127.0.0.1:7575/'.replace('http', 'ws')}><View /></DamlLedger>,
      );`,
    expected: ['an error on the console, an unhandled rejection', '{"type":"p","props":{},"children":["true,true"]}'],
  },
];
