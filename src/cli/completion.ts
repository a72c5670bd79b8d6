// `crossbill completion bash|zsh`: completes commands and options, made from the program itself.
import { type Command } from 'commander';
import { CliError, EXIT } from './exit-codes.js';
import { type Session } from './session.js';

export function addCompletion(program: Command, session: Session): void {
  session.leaf(program, 'completion <shell>', 'print completion for bash or zsh', async (cli, args) => {
    const [shell] = args;
    if (shell !== 'bash' && shell !== 'zsh') throw new CliError(EXIT.usage, 'argument', 'The shell is bash or zsh.');
    const script = scriptOf(program);
    const text =
      shell === 'zsh' ? `#compdef crossbill\nautoload -U +X bashcompinit && bashcompinit\n${script}` : script;
    await cli.print({ shell, script: text }, () => text);
    return EXIT.ok;
  });
}

function scriptOf(program: Command): string {
  const lines: string[] = [];
  const visit = (command: Command, path: string): void => {
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
