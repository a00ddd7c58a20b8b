import { type Observable, of } from 'rxjs';
import { parseOptions, UsageError } from './arguments.js';
import { help } from './help.js';
import { quoteArgument } from './shell.js';
import type { World } from './World.js';

const shells = ['bash', 'zsh', 'fish'] as const;

/** `canton-rx completion SHELL`: prints a script that completes commands and options; emits the exit code, once. */
export function completionCommand([shell = '', ...others]: readonly string[], { stdout }: World): Observable<number> {
  parseOptions(others, {});
  const script = new Map<string, () => string>(Object.entries({ bash, zsh, fish })).get(shell);
  if (script === undefined) throw new UsageError(`completion requires a shell: ${shells.join(', ')}`);
  stdout.write(script());
  return of(0);
}

/** A command or an option of the help texts, which are the only list of them. */
interface Word {
  readonly word: string;
  readonly text: string;
}

/** The lines of a help text with the name and the meaning of a command or an option. */
const wordsIn = (text: string, pattern: RegExp): readonly Word[] =>
  Array.from(text.matchAll(pattern), ([, word = '', meaning = '']) => ({ word, text: meaning }));

const commandsOf = (): readonly Word[] => wordsIn(help.main, /^ {2}([a-z]+) {2,}(.*)$/gm);

const optionsOf = (command: string): readonly Word[] =>
  wordsIn(helpOf(command), /^ {2}(?:-\w, )?(--[\w-]+)(?: [^\s]+)? +(.*)$/gm);

/** The words after a command, which its lines of usage name: `processors list`. */
const actionsOf = (command: string): readonly string[] =>
  Array.from(
    helpOf(command).matchAll(new RegExp(`^(?:Usage:| {6}) canton-rx ${command} ([a-z|]+)(?: |$)`, 'gm')),
    ([, words = '']) => words.split('|'),
  ).flat();

/** The options that take a file. */
const filesOf = (command: string): readonly string[] =>
  Array.from(helpOf(command).matchAll(/^ {2}(?:-\w, )?(--[\w-]+) FILE /gm), ([, word = '']) => word);

const helpOf = (command: string): string => Object.entries(help).find(([name]) => name === command)?.[1] ?? '';

const join = (words: readonly Word[]): string => words.map(({ word }) => word).join(' ');

const bash = (): string => `# canton-rx completion bash > /etc/bash_completion.d/canton-rx
_canton_rx() {
  local word="\${COMP_WORDS[COMP_CWORD]}" actions words files
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${join([...commandsOf(), ...optionsOf('main')])}' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commandsOf()
  .map(
    ({ word }) =>
      `    ${word}) actions='${actionsOf(word).join(' ')}' words='${join(optionsOf(word))}' files=' ${filesOf(word).join(' ')} ' ;;`,
  )
  .join('\n')}
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
    words=(${described(commandsOf())})
    _describe command words
    words=(${described(optionsOf('main'))})
    _describe -o option words
    return
  fi
  case \${(Q)\${(z)BUFFER}[2]} in
${commandsOf()
  .map(({ word }) => `    ${word}) actions=(${actionsOf(word).join(' ')}) words=(${described(optionsOf(word))}) ;;`)
  .join('\n')}
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

const fish = (): string => {
  const ofCommands = commandsOf().map(
    ({ word, text }) => `complete -c canton-rx -n __fish_use_subcommand -f -a ${word} -d ${fishQuote(text)}`,
  );
  const ofActions = commandsOf().flatMap(({ word: command }) => {
    const actions = actionsOf(command).join(' ');
    const condition = `'__fish_seen_subcommand_from ${command}; and not __fish_seen_subcommand_from ${actions}'`;
    return actions === '' ? [] : [`complete -c canton-rx -n ${condition} -f -a '${actions}'`];
  });
  const global = optionsOf('main').map(
    ({ word, text }) => `complete -c canton-rx -n __fish_use_subcommand -l ${word.slice(2)} -d ${fishQuote(text)}`,
  );
  const ofOptions = commandsOf().flatMap(({ word: command }) =>
    optionsOf(command).map(({ word, text }) => {
      const file = filesOf(command).includes(word) ? ' -r' : '';
      const condition = `'__fish_seen_subcommand_from ${command}'`;
      return `complete -c canton-rx -n ${condition} -l ${word.slice(2)}${file} -d ${fishQuote(text)}`;
    }),
  );
  return `# canton-rx completion fish > ~/.config/fish/completions/canton-rx.fish\n${[...ofCommands, ...ofActions, ...global, ...ofOptions].join('\n')}\n`;
};

const fishQuote = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
