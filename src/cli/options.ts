/**
 * The options of a command: how each is written, `-o, --out FILE`, and what it means. Without a value it is a flag. `...` after
 * the value: it can be repeated.
 */
export type Options = Readonly<Record<string, string>>;

/** The values of options, by their names without dashes. */
export type Values<O extends Options> = { readonly [Form in keyof O & string as NameOf<Form>]?: ValueOf<Form> };

type NameOf<Form> = Form extends `-${string}, ${infer Long}`
  ? NameOf<Long>
  : Form extends `--${infer Name} ${string}`
    ? Name
    : Form extends `--${infer Name}`
      ? Name
      : never;

type ValueOf<Form> = Form extends `${string}...`
  ? readonly string[]
  : Form extends `${string}--${string} ${string}`
    ? string
    : boolean;

/** One option. */
interface Option {
  readonly name: string;
  readonly short?: string;
  /** The word for its value in the help; absent for a flag. */
  readonly value?: string;
  readonly isRepeatable: boolean;
  readonly text: string;
}

/** The options of a command one by one. */
export const optionsOf = (options: Options): readonly Option[] =>
  Object.entries(options).map(([form, text]) => {
    const [, short, name = '', value, dots] = /^(?:-(\w), )?--([\w-]+)(?: (.+?)(\.{3})?)?$/.exec(form) ?? [];
    return { ...(short && { short }), ...(value && { value }), name, text, isRepeatable: dots !== undefined };
  });

/** Where the ledger is, for every command that connects to one. */
export const connectionOptions = {
  '--ledger URL': 'The JSON Ledger API. Default: $CANTON_RX_LEDGER_URL',
  '--token-file FILE':
    'A file with the bearer token, read for every request. Default: the token in $CANTON_RX_LEDGER_TOKEN. There is no option for the token itself, because other users can see the arguments of a process',
  '--context NAME':
    'The ledger, token file and parties of this name in the file of $CANTON_RX_CONFIG. Default: $CANTON_RX_CONTEXT',
  '--verbose': 'Print each request to stderr, without the token and the content',
} as const;

/** Which contracts a command is about. */
export const nameOptions = {
  '--party PARTY...': 'Contracts of which this party is a stakeholder; repeatable. Default: any party',
  '--template ID...': "Contracts of '#package-name:Module:Entity'; repeatable. Default: all",
} as const;

/** Which updates a command reads. */
export const selectionOptions = {
  '--party PARTY...': 'Updates visible to this party; repeatable. Default: any party',
  '--template ID...': "Events of '#package-name:Module:Entity'; repeatable. Default: all",
  '--effects': 'Include exercises, not only changes of active contracts',
  '--variant NAME...':
    'Only this variant: Transaction, Reassignment, TopologyTransaction, OffsetCheckpoint or UnknownUpdate; repeatable',
  '--synchronizer ID...': 'Only updates of this synchronizer; repeatable',
} as const;

/** A start at a time, or before the last updates. */
export const startOptions = {
  '--since TIME':
    'Start at this record time, with its zone: 2026-11-23T10:00+01:00, 2026-11-23T10:00:00Z; or 90s, 10m, 2h, 7d ago',
  '-n, --count COUNT': 'Start with the last COUNT updates; with --since, of those since then',
} as const;

/** The database of a command, and the schema in it. */
export const databaseOptions = {
  '--database URL': 'postgres://user@host:5432/database. Default: $CANTON_RX_DATABASE_URL',
  '--schema NAME': 'The schema of the store. Default: public',
} as const;
