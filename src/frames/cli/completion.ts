// `crossbill completion bash|zsh|fish`: prints a shell script to complete the names of commands and options. The names
// come from the program itself.
import { type CommandUnknownOpts } from '@commander-js/extra-typings';
import { type Commands } from './commands.js';
import { wrongUsage } from './exit-codes.js';

export function addCompletion(on: Commands): void {
  on.add('completion <shell>', on.about).action(
    on.run(async (cli, shell) => {
      const script = scriptFor(shell, on.parent);
      if (script === null) throw wrongUsage('The shell is bash, zsh or fish.');
      await cli.print({ shell, script }, () => script);
    }),
  );
}

function scriptFor(shell: string, program: CommandUnknownOpts): string | null {
  switch (shell) {
    case 'bash':
      return scriptOf(program);
    case 'zsh':
      return `#compdef crossbill\nautoload -U +X bashcompinit && bashcompinit\n${scriptOf(program)}`;
    case 'fish':
      return fishScriptOf(program);
    default:
      return null;
  }
}

/** Writes one line per command and option. The fish shell shows the purpose after each name. */
function fishScriptOf(program: CommandUnknownOpts): string {
  const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const lines: string[] = [];
  const visit = (command: CommandUnknownOpts, path: readonly string[]): void => {
    const at = `complete -c crossbill -n ${quoted(['__crossbill_at', ...path].join(' '))}`;
    for (const c of command.commands) lines.push(`${at} -a ${c.name()} -d ${quoted(c.description())}`);
    for (const { long, description, required, optional } of command.options) {
      if (typeof long === 'string')
        lines.push(`${at} -l ${long.slice(2)}${required || optional ? ' -r' : ''} -d ${quoted(description)}`);
    }
    for (const c of command.commands) visit(c, [...path, c.name()]);
  };
  visit(program, []);
  return `# Put this into ~/.config/fish/completions/crossbill.fish: crossbill completion fish > ~/.config/fish/completions/crossbill.fish
function __crossbill_at
    set -l words (commandline -opc)
    set -l given (string match -v -- '-*' $words[2..-1])
    test "$given" = "$argv"
end
complete -c crossbill -f
${lines.join('\n')}
`;
}

function scriptOf(program: CommandUnknownOpts): string {
  const lines: string[] = [];
  const visit = (command: CommandUnknownOpts, path: string): void => {
    const words = [
      ...command.commands.map((c) => c.name()),
      ...command.options.flatMap((o) => (o.long === undefined || o.long === null ? [] : [o.long])),
      '--help',
    ];
    lines.push(`    "${path}") words="${words.join(' ')}" ;;`);
    for (const c of command.commands) visit(c, `${path} ${c.name()}`.trim());
  };
  visit(program, '');
  return `# Put this into ~/.bashrc or ~/.zshrc: source <(crossbill completion bash)
_crossbill() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${lines.join('\n')}
    *) words="--help --json --env-file" ;;
  esac
  COMPREPLY=( $(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}") )
}
complete -o default -F _crossbill crossbill
`;
}
