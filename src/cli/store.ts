import { concatMap, map, type Observable, of } from 'rxjs';
import { parseOptions, readInteger, UsageError } from './arguments.js';
import {
  DatabaseError,
  explainMissing,
  type Pool,
  type Queryable,
  readDatabase,
  reportDatabase,
  rowsOf,
  withPool,
} from './database.js';
import { databaseOptions, type Options, type Values } from './options.js';
import { quoteOption } from './shell.js';
import { showText } from './terminal.js';
import { toolCommands } from './toolCommands.js';
import { printResult, type World } from './World.js';

/** The tables of a service in a schema, and what the options say. */
export interface Store {
  readonly pool: Pool;
  readonly schema: string;
  readonly values: StoreValues;
  readonly world: World;
}

type StoreCommand = 'processors' | 'parked' | 'outbox';

type StoreValues = Values<(typeof toolCommands)['processors']['options']> &
  Values<(typeof toolCommands)['outbox']['options']>;

/** Lines to print, or the exit code of a failure that is reported. */
export type Result = Observable<readonly string[] | number>;

/** What a command does, by the word after its name, and the options that it then takes. */
type Actions = Readonly<
  Record<string, readonly [options: readonly (keyof StoreValues)[], work: (store: Store) => Result]>
>;

/**
 * Returns a command that works with the tables of a service, prints the result and emits the exit code, once.
 *
 * @param missing - what a schema without the tables lacks, and what creates them
 */
export const storeCommand =
  (command: StoreCommand, [lacks, advice]: readonly [string, string], actions: Actions) =>
  ([action = '', ...args]: readonly string[], world: World): Observable<number> => {
    const [names, work] = (Object.hasOwn(actions, action) ? actions[action] : undefined) ?? [];
    if (names === undefined || work === undefined) {
      const words = Object.keys(actions)
        .join(', ')
        .replace(/, (\w+)$/, ' or $1');
      throw new UsageError(`${command} requires ${words} first (canton-rx ${command} --help)`);
    }
    const own = Object.entries(toolCommands[command].options).filter(([form]) =>
      names.some((name) => form.split(' ')[0] === `--${name}`),
    );
    const values = parseOptions<Options>(args, { ...databaseOptions, ...Object.fromEntries(own) }) as StoreValues;
    const { database, schema } = readDatabase(values, world.env, defaultSchema);
    return withPool(database, (pool) => work({ pool, schema, values, world })).pipe(
      concatMap((result) => {
        if (typeof result === 'number') return of(result);
        const text = [...result, ''].join('\n');
        // a change is made, whether it can be printed or not
        return printResult(world, text, 0, { code: 1, notice: action === 'list' ? '' : text });
      }),
      explainMissing(`the schema ${schema} has ${lacks}`, advice),
      reportDatabase(schema, world),
    );
  };

/** The schema of the commands for a store without `--schema`. */
const defaultSchema = 'public';

/**
 * A command for the same schema as a person pastes it into a shell. Without the schema, it would change the processor of this
 * name in another one.
 */
export const pasted = (words: string, schema: string, name?: string): string => {
  const options = [
    ...(schema === defaultSchema ? [] : [`--schema ${schema}`]),
    ...(name === undefined ? [] : [quoteOption('name', name)]),
  ];
  return ['canton-rx', words, ...options].join(' ');
};

/** The value of an option that an action requires. Throws a {@link UsageError}. */
export function required(
  values: StoreValues,
  option: Exclude<keyof StoreValues, 'forget' | 'party' | 'verbose'>,
): string {
  const { [option]: value = '' } = values;
  if (value === '') throw new UsageError(`--${option} is required`);
  return value;
}

/** The offset of an option that an action requires. Throws a {@link UsageError}. */
export const requiredOffset = (values: StoreValues, option: 'after' | 'offset'): number =>
  readInteger(option, required(values, option), 0);

/** A line for each row of a statement, without the columns that are `NULL`. */
export const tableOf = (db: Queryable, sql: string, values?: readonly unknown[]): Result =>
  rowsOf(db, sql, values).pipe(
    map((rows) =>
      rows.map((row) =>
        (Object.values(row) as readonly (string | number | boolean | null)[])
          .filter((cell) => cell !== null)
          .map((cell) => showText(String(cell)))
          .join('\t'),
      ),
    ),
  );

/** Why an action does nothing, and the next step. */
export const refusal = (text: string, next: string): DatabaseError => new DatabaseError('processor', { text, next });
