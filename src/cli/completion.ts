import { type Observable, of } from 'rxjs';
import { parseOptions, UsageError } from './arguments.js';
import { commands, mainOptions } from './help.js';
import { type Options, optionsOf } from './options.js';
import { quoteArgument } from './shell.js';
import type { World } from './World.js';

/** `canton-rx completion SHELL`: prints a script that completes commands and options; emits the exit code, once. */
export function completionCommand([shell = '', ...others]: readonly string[], { stdout }: World): Observable<number> {
  parseOptions(others, {});
  const scripts = new Map<string, () => string>(Object.entries({ bash, zsh, fish }));
  const script = scripts.get(shell);
  if (script === undefined) throw new UsageError(`completion requires a shell: ${[...scripts.keys()].join(', ')}`);
  stdout.write(script());
  return of(0);
}

/** A command or an option. */
interface Word {
  readonly word: string;
  readonly text: string;
}

const commandWords: readonly Word[] = Object.entries(commands).map(([word, { summary }]) => ({ word, text: summary }));

/** The options that `--help` lists, with the first sentence of each. */
const wordsOf = (options: Options): readonly Word[] =>
  optionsOf({ ...options, '-h, --help': 'Print this help' }).map(({ name, text }) => ({
    word: `--${name}`,
    text: text.replace(/\. .*/, ''),
  }));

const mainWords = optionsOf(mainOptions).map(({ name, text }) => ({ word: `--${name}`, text }));

/** What a script has of each command: its actions, its options, and those that take a file. */
const completed = Object.entries(commands).map(([command, { usage, options }]) => ({
  command,
  actions: usage.flatMap((use) => /^[a-z|]+/.exec(use)?.[0].split('|') ?? []).join(' '),
  words: wordsOf(options),
  files: optionsOf(options)
    .filter(({ value }) => value === 'FILE')
    .map(({ name }) => `--${name}`),
}));

const join = (words: readonly Word[]): string => words.map(({ word }) => word).join(' ');

const bash = (): string => `# canton-rx completion bash > /etc/bash_completion.d/canton-rx
_canton_rx() {
  local word="\${COMP_WORDS[COMP_CWORD]}" actions words files
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${join([...commandWords, ...mainWords])}' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${completed.map(({ command, actions, words, files }) => `    ${command}) actions='${actions}' words='${join(words)}' files=' ${files.join(' ')} ' ;;`).join('\n')}
  esac
  [ "$COMP_CWORD" -eq 2 ] && words="$actions $words"
  case "$files" in
    *" \${COMP_WORDS[COMP_CWORD-1]} "*) COMPREPLY=($(compgen -f -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  esac
}
complete -o filenames -F _canton_rx canton-rx
`;

const zsh = (): string => `#compdef canton-rx
# canton-rx completion zsh > "\${fpath[1]}/_canton-rx"
_canton_rx() {
  local -a actions words
  if (( CURRENT == 2 )); then
    words=(${described(commandWords)})
    _describe command words
    words=(${described(mainWords)})
    _describe -o option words
    return
  fi
  case \${(Q)\${(z)BUFFER}[2]} in
${completed.map(({ command, actions, words }) => `    ${command}) actions=(${actions}) words=(${described(words)}) ;;`).join('\n')}
  esac
  (( CURRENT == 3 )) && _describe action actions
  _describe -o option words
  _files
}
compdef _canton_rx canton-rx
`;

/** Words of `_describe`: a colon separates the meaning. */
const described = (words: readonly Word[]): string =>
  words.map(({ word, text }) => quoteArgument(`${word}:${text}`)).join(' ');

function fish(): string {
  const complete = 'complete -c canton-rx -n';
  const first = `${complete} __fish_use_subcommand`;
  const lines = [
    ...commandWords.map(({ word, text }) => `${first} -f -a ${word} -d ${fishQuote(text)}`),
    ...completed
      .filter(({ actions }) => actions !== '')
      .map(({ command, actions }) => {
        const condition = `__fish_seen_subcommand_from ${command}; and not __fish_seen_subcommand_from ${actions}`;
        return `${complete} '${condition}' -f -a '${actions}'`;
      }),
    ...mainWords.map(({ word, text }) => `${first} -l ${word.slice(2)} -d ${fishQuote(text)}`),
    ...completed.flatMap(({ command, words, files }) =>
      words.map(({ word, text }) => {
        const file = files.includes(word) ? ' -r' : '';
        return `${complete} '__fish_seen_subcommand_from ${command}' -l ${word.slice(2)}${file} -d ${fishQuote(text)}`;
      }),
    ),
  ];
  return `# canton-rx completion fish > ~/.config/fish/completions/canton-rx.fish\n${lines.join('\n')}\n`;
}

const fishQuote = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
